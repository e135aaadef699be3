/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_FORTRAN08_H
#define NUIOA_MPI_FORTRAN08_H

#include <mpi.h>
#include <stddef.h>

/* The Fortran entry points of a preloaded library for "use mpi_f08". With Open MPI they are made
 * with the macros of fortran.h, under other names. MPICH's own entry points call the C functions by
 * their MPI_ names, which the library replaces, except those that start and end MPI. So with MPICH
 * only those are defined here. */
#ifdef OPEN_MPI

#define NAME(name) mpi_##name##_f08_
#define MPI_NAME(name) "mpi_" #name "_f08_"

#else

/* There are no prototypes for functions that Fortran calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* Gives the result `rc` of a C function, an MPI error code, to Fortran. `ierr` is NULL if the
 * program left it out. */
static void answer(int rc, MPI_Fint *ierr)
{
    if (ierr)
        *ierr = rc;
}

/* The entry points MPI_Init, MPI_Init_thread and MPI_Finalize of "use mpi_f08". The arguments are
 * MPI's, and *ierr becomes an MPI error code. */
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
