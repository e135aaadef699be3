/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_MUNGE_H
#define NUIOA_DOCTOR_MUNGE_H

/* Checks. MUNGE, if Slurm or the plugin uses it. */

struct doctor;

void doctor_check_munge(struct doctor *d);

#endif
