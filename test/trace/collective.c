/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls each collective once, with 4 ranks; with an argument MPI_Ibcast, too.
 * test/cluster/50-trace.t has the expected trace. */
#include "forms.h"

static char out[1 << 16], in[1 << 16];

int main(int argc, char **argv)
{
    static const COUNT counts[4] = { 10, 20, 30, 40 };
    static const PLACE places[4] = { 0, 100, 200, 300 };
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Bcast(out, 1000, MPI_BYTE, 1, world);
    if (argc > 1)
        MPI_Ibcast(out, 1000, MPI_BYTE, 1, world, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Reduce(out, in, 1000, MPI_CHAR, MPI_MAX, 1, world);
    MPI_Allreduce(out, in, 1000, MPI_CHAR, MPI_MAX, world);
    MPI_Scan(out, in, 1000, MPI_CHAR, MPI_MAX, world);
    MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, 2, world);
    MPI_Scatterv(out, counts, places, MPI_BYTE, in, counts[rank], MPI_BYTE, 2, world);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, in, 100, MPI_BYTE, world);
    MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, world);
    MPI_Alltoall(out, 100, MPI_BYTE, in, 100, MPI_BYTE, world);
    MPI_Reduce_scatter(out, in, counts, MPI_CHAR, MPI_MAX, world);
    MPI_Barrier(world);
    MPI_Finalize();
    return 0;
}
