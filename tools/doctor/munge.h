/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_MUNGE_H
#define NUIOA_DOCTOR_MUNGE_H

/* Checks of `nuioa doctor`: MUNGE, if Slurm or the plugin uses it. doctor.h says what holds for all
 * checks. */

struct doctor;

/* Reports if libmunge is missing, or if munged does not answer at its socket. */
void doctor_check_munge(struct doctor *d);

#endif
