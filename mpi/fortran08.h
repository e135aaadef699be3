/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_FORTRAN08_H
#define NUIOA_MPI_FORTRAN08_H

#include <mpi.h>
#include <stddef.h>

/* For the entry points of "use mpi_f08". Open MPI's are those of fortran.h under other names.
 * MPICH's call the C ones, but for those that start and end MPI, which call PMPI: they are here. */
#ifdef OPEN_MPI

#define NAME(name) mpi_##name##_f08_
#define PMPI_NAME(name) "pmpi_" #name "_f08_"

#else

/* gfortran gives these names no prototypes */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static void answer(int rc, MPI_Fint *ierr)
{
    if (ierr)
        *ierr = rc;
}

void mpi_init_f08_(MPI_Fint *ierr)
{
    answer(MPI_Init(NULL, NULL), ierr);
}

void mpi_init_thread_f08_(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr)
{
    int given = MPI_THREAD_SINGLE;
    answer(MPI_Init_thread(NULL, NULL, *required, &given), ierr);
    *provided = given;
}

void mpi_finalize_f08_(MPI_Fint *ierr)
{
    answer(MPI_Finalize(), ierr);
}

#endif
#endif
