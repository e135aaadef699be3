/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "mpi/trace/trace.h"

/* The C entry points. */

#define NAME(c, fortran) MPI_##c
#define PARAMETERS(...) __VA_ARGS__
#define ARGUMENTS(...) __VA_ARGS__
#define RUN(name, ...) int rc = NEXT(name)(__VA_ARGS__)

#define INT int
#define COUNT int
#define COUNTS const int *
#define PLACES const int *
#define LARGE MPI_Count
#define AINT MPI_Aint
#define TYPE MPI_Datatype
#define OP MPI_Op
#define COMM MPI_Comm
#define WINDOW MPI_Win
#define INFO MPI_Info
#define STATUS MPI_Status *
#define REQUEST MPI_Request *

#define GET(number) number
#define GET_TYPE(type) type
#define GET_OP(op) op
#define GET_COMM(comm) comm
#define GET_WINDOW(window) window
#define GET_REQUEST(request) request
#define ALL(count) ((struct trace_counts){ .all = count })
#define EACH(counts) ((struct trace_counts){ .each = counts })
#define IN_PLACE(buffer) ((buffer) == MPI_IN_PLACE)

#include "mpi/trace/entry.h"

int MPI_Init(int *argc, char ***argv)
{
    COUNTED(MPI_Init, LIST(argc, argv), trace_begin())
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    COUNTED(MPI_Init_thread, LIST(argc, argv, required, provided), trace_begin())
}

int MPI_Finalize(void)
{
    trace_end();
    return NEXT(MPI_Finalize)();
}

/* The functions of MPI 4 in which numbers of elements are MPI_Counts. */
#if TRACE_LARGE_COUNTS
#undef NAME
#undef COUNT
#undef COUNTS
#undef PLACES
#undef EACH
#undef ONE_FORM
#define NAME(c, fortran) MPI_##c##_c
#define COUNT MPI_Count
#define COUNTS const MPI_Count *
#define PLACES const MPI_Aint *
#define EACH(counts) ((struct trace_counts){ .each_large = counts })
#define ONE_FORM(c, fortran, parameters, arguments, event)
#include "mpi/calls.h"
#endif
