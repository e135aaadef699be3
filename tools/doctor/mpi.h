/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_MPI_H
#define NUIOA_DOCTOR_MPI_H

/* Checks of `nuioa doctor`: what MPI libraries are told. doctor.h says what holds for all
 * checks. */

struct doctor;

/* Where a network is up for which MPI libraries have something better than TCP: reports settings of
 * these, in their files and in the environment, that name a device which is not here, or choose
 * TCP. */
void doctor_check_mpi(struct doctor *d);

#endif
