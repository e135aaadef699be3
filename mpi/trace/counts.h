/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_COUNTS_H
#define NUIOA_MPI_TRACE_COUNTS_H

#include <mpi.h>
#include <stdint.h>

/* The numbers of elements of a collective's parts. They are ints or, in the functions of MPI 4
 * whose names end with _c, MPI_Counts. If both arrays are NULL, each part has `all` elements. */
struct trace_counts {
    MPI_Count all;               /* elements of each part */
    const int *each;             /* [number of ranks], the program's; NULL: not used */
    const MPI_Count *each_large; /* the same for MPI_Counts */
};

/* Returns the number of elements of part i, from 0. */
static inline MPI_Count trace_part(const struct trace_counts *counts, int i)
{
    return counts->each         ? counts->each[i]
           : counts->each_large ? counts->each_large[i]
                                : counts->all;
}

/* MPI 4.1 calls PMPI_Type_size_x deprecated. Its successor is not in MPI 3, and PMPI_Type_size does
 * not know sizes of 2 GB and more. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Returns the size in bytes of `count` elements of `type`. Returns 0 if `count` is not positive, or
 * if MPI does not know the size of the type. */
static inline uint64_t trace_bytes(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count > 0)
        PMPI_Type_size_x(type, &size);
    return size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

#pragma GCC diagnostic pop

#endif
