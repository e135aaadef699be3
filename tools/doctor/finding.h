/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_FINDING_H
#define NUIOA_DOCTOR_FINDING_H

#include "tools/doctor/doctor.h"

/* Adds a finding of the kind `id` (kinds.c) to *d. One that the user ignores is counted in
 * d->ignored instead; with d->this_node, one of a shared kind is left out. `subject` is the NIC,
 * argument or variable that it is about, or ""; the text says what was found and is formatted as by
 * printf. Both are copied, cut if they are too long, and made printable. A finding for which there
 * is no room is counted in d->lost. */
void doctor_report(struct doctor *d, const char *id, const char *subject, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns true if this machine itself is examined, and false if files of another one (--root)
 * are. */
bool doctor_is_live(const struct doctor *d);

#endif
