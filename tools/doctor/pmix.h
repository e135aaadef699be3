/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_PMIX_H
#define NUIOA_DOCTOR_PMIX_H

/* Checks of `nuioa doctor`: the PMIx library that Slurm uses. doctor.h says what holds for all
 * checks. */

struct doctor;

/* Reports if Slurm has no PMIx plugin, or a PMIx library that cannot be opened, that nuioa cannot
 * use, or that has a fault which ends slurmstepd, and settings of mpi.conf that matter. Sets
 * d->pmix. */
void doctor_check_pmix(struct doctor *d);

#endif
