/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_FORTRAN_H
#define NUIOA_MPI_FORTRAN_H

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

/* For the Fortran entry points of a preloaded library (mpif.h and "use mpi", names as gfortran
 * makes them). The MPI library's own is called by its PMPI name, and found when it is first needed:
 * no Fortran library is brought to programs that have none. "use mpi_f08" has other names
 * (fortran08.h) and an optional last argument; all others are passed alike. */
#ifndef NAME
#define NAME(name) mpi_##name##_
#define PMPI_NAME(name) "pmpi_" #name "_"
#endif

typedef MPI_Fint *fint;
typedef void (*real_call)(void *, ...);

static real_call real(real_call *known, const char *name)
{
    if (!*known) {
        void *found = dlsym(RTLD_DEFAULT, name);
        memcpy(known, &found, sizeof(found));
    }
    return *known;
}

#define REAL(name) \
    static real_call known; \
    real_call call = real(&known, PMPI_NAME(name)); \
    MPI_Fint result = MPI_SUCCESS; \
    if (!ierr) \
    ierr = &result

/* gfortran gives these names no prototypes */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#endif
