/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_MPI_H
#define NUIOA_DOCTOR_MPI_H

/* Checks. What MPI libraries are told. */

struct doctor;

void doctor_check_mpi(struct doctor *d);

#endif
