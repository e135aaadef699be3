/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_PMIX_H
#define NUIOA_DOCTOR_PMIX_H

/* Checks. The PMIx library that Slurm uses. */

struct doctor;

void doctor_check_pmix(struct doctor *d);

#endif
