/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_FORTRAN_H
#define NUIOA_MPI_FORTRAN_H

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

/* Macros for the Fortran entry points of a preloaded library, for mpif.h and "use mpi", with the
 * names that gfortran makes. The MPI library's function is called by its PMPI name, which is looked
 * up at the first call: so a program without Fortran needs no Fortran library. "use mpi_f08" has
 * other names (fortran08.h), and its last argument is optional. */
#ifndef NAME
#define NAME(name) mpi_##name##_
#define PMPI_NAME(name) "pmpi_" #name "_"
#endif

typedef MPI_Fint *fint;
typedef void (*real_call)(void *, ...);

/* Returns the MPI library's function `name`, which it looks up with dlsym and keeps in *known at
 * the first call; NULL if the process has no such function. */
static real_call real(real_call *known, const char *name)
{
    if (!*known) {
        void *found = dlsym(RTLD_DEFAULT, name);
        memcpy(known, &found, sizeof(found));
    }
    return *known;
}

/* Declares, at the beginning of an entry point, `call`: the MPI library's function of this name. If
 * the program left out `ierr`, the result goes to a local variable. */
#define REAL(name) \
    static real_call known; \
    real_call call = real(&known, PMPI_NAME(name)); \
    MPI_Fint result = MPI_SUCCESS; \
    if (!ierr) \
    ierr = &result

/* There are no prototypes for functions that Fortran calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#endif
