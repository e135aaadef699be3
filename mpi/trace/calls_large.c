/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/trace.h"

/* The functions of MPI 4 in which numbers of elements are MPI_Counts. */
#if TRACE_LARGE_COUNTS
#define NAME(name) MPI_##name##_c
#define NEXT_NAME(name) NEXT(name##_c)
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define EACH(counts) ((struct trace_counts){ .each_large = counts })
#include "mpi/trace/calls.c"
#endif
