/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdlib.h>

#include "mpi/trace/trace.h"

/* The Fortran entry points, for mpif.h and "use mpi", with the names that gfortran makes. The next
 * function is looked up at the first call: so a program without Fortran needs no Fortran library.
 * "use mpi_f08" has other names, and its last argument is optional: if the program left it out, the
 * result goes to a local variable. What an entry point returns is ignored. */
#define FORTRAN
#ifndef NAME
#define NAME(c, fortran) mpi_##fortran##_
#endif
#define PARAMETERS(...) __VA_ARGS__, MPI_Fint *ierr
#define ARGUMENTS(...) __VA_ARGS__, ierr
#define RUN(name, ...) \
    MPI_Fint result = MPI_SUCCESS; \
    ierr = ierr ? ierr : &result; \
    NEXT(name)(__VA_ARGS__); \
    int rc = *ierr

#define INT MPI_Fint *
#define COUNT MPI_Fint *
#define COUNTS const MPI_Fint *
#define PLACES const MPI_Fint *
#define LARGE MPI_Count *
#define AINT MPI_Aint *
#define TYPE MPI_Fint *
#define OP MPI_Fint *
#define COMM MPI_Fint *
#define WINDOW MPI_Fint *
#define INFO MPI_Fint *
#define STATUS MPI_Fint *
#define REQUEST MPI_Fint *

#define GET(number) *(number)
#define GET_TYPE(type) PMPI_Type_f2c(*(type))
#define GET_OP(op) PMPI_Op_f2c(*(op))
#define GET_COMM(comm) PMPI_Comm_f2c(*(comm))
#define GET_WINDOW(window) PMPI_Win_f2c(*(window))
#define GET_REQUEST(request) PMPI_Request_f2c(request)
#define ALL(count) ((struct trace_counts){ .all = *(count) })
#define EACH(counts) ((struct trace_counts){ .each = counts })
#define IN_PLACE(buffer) in_place(buffer)

/* There are no prototypes for functions that Fortran calls. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#ifdef OPEN_MPI
/* In Fortran, MPI_IN_PLACE is the address of a variable. */
static bool in_place(const void *buffer)
{
    static const void *place;
    if (!place)
        place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    return place && buffer == place;
}
#endif

#include "mpi/trace/entry.h"

int NAME(Init, init)(MPI_Fint *ierr)
{
    COUNTED(NAME(Init, init), ierr, trace_begin())
}

int NAME(Init_thread, init_thread)(PARAMETERS(INT required, INT provided))
{
    COUNTED(NAME(Init_thread, init_thread), ARGUMENTS(required, provided), trace_begin())
}

int NAME(Finalize, finalize)(MPI_Fint *ierr)
{
    trace_end();
    RUN(NAME(Finalize, finalize), ierr);
    return rc;
}
