/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_FORTRAN_H
#define NUIOA_MPI_FORTRAN_H

#include <dlfcn.h>
#include <mpi.h>

/* Macros for the Fortran entry points of a preloaded library, for mpif.h and "use mpi", with the
 * names that gfortran makes. The function that follows is looked up at the first call: so a program
 * without Fortran needs no Fortran library. "use mpi_f08" has other names, and its last argument is
 * optional. */
#ifndef NAME
#define NAME(name) mpi_##name##_
#define MPI_NAME(name) "mpi_" #name "_"
#endif

typedef MPI_Fint *fint;
typedef void (*real_call)(void *, ...);

/* Declares, at the beginning of an entry point, `call`: the function of this name that follows.
 * FIND, which the library defines, looks it up and keeps it in `known`. If the program left out
 * `ierr`, the result goes to a local variable. */
#define REAL(name) \
    static void *known; \
    real_call call = (real_call)FIND(&known, MPI_NAME(name)); \
    MPI_Fint result = MPI_SUCCESS; \
    if (!ierr) \
    ierr = &result

/* There are no prototypes for functions that Fortran calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#endif
