/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers of elements that are too large for an int. No test could send so much, so this program
 * calls the functions of the trace directly, with 2 ranks. Rank 0 prints the bytes, messages and
 * large bytes that it counted towards the other. */
#include <stdio.h>

#include "mpi/trace/trace.h"

int main(int argc, char **argv)
{
    static const MPI_Count parts[2] = { 1, 3000000000 };
    struct trace_counts counts = { .each_large = parts };
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    trace_comm_open();
    trace_table_open(2, false);
    trace_send(1, 5000000000, MPI_INT, MPI_COMM_WORLD);
    trace_alltoall(counts, MPI_INT, NULL, MPI_COMM_WORLD);
    trace_prepare();
    trace_send(1, 3000000000, MPI_BYTE, MPI_COMM_WORLD);
    trace_prepared(MPI_REQUEST_NULL);
    trace_start(MPI_REQUEST_NULL, MPI_REQUEST_NULL);
    trace_start(MPI_REQUEST_NULL, MPI_REQUEST_NULL);
    const struct trace_count *to = trace_counted(TRACE_TO, 1);
    if (rank == 0)
        printf("%llu %llu %llu\n", (unsigned long long)to->bytes, (unsigned long long)to->msgs,
               (unsigned long long)to->large_bytes);
    MPI_Finalize();
    return 0;
}
