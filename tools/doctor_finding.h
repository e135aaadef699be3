/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_FINDING_H
#define NUIOA_DOCTOR_FINDING_H

#include "tools/doctor.h"

/* Adds a finding of the kind `id`, unless the user ignores it. `subject` is the NIC, argument or
 * variable that it is about, or "". A finding for which there is no room is counted in d->lost. */
void doctor_report(struct doctor *d, const char *id, const char *subject, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns whether the machine itself is examined, and not only files of another one. */
bool doctor_is_live(const struct doctor *d);

#endif
