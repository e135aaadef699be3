/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls the collective that the argument names, with 4 ranks; with "all", each of them except
 * ibcast. test/cluster/50-trace.t has the expected trace. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "forms.h"

static char out[1 << 16], in[1 << 16];

int main(int argc, char **argv)
{
    static const COUNT counts[4] = { 10, 20, 30, 40 };
    static const PLACE places[4] = { 0, 100, 200, 300 };
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Comm world = MPI_COMM_WORLD;
    const bool all = !strcmp(what, "all");
    MPI_Request request;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    if (all || !strcmp(what, "bcast"))
        MPI_Bcast(out, 1000, MPI_BYTE, 1, world);
    if (!strcmp(what, "ibcast"))
        MPI_Ibcast(out, 1000, MPI_BYTE, 1, world, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (all || !strcmp(what, "reduce"))
        MPI_Reduce(out, in, 1000, MPI_CHAR, MPI_MAX, 1, world);
    if (all || !strcmp(what, "allreduce"))
        MPI_Allreduce(out, in, 1000, MPI_CHAR, MPI_MAX, world);
    if (all || !strcmp(what, "scan"))
        MPI_Scan(out, in, 1000, MPI_CHAR, MPI_MAX, world);
    if (all || !strcmp(what, "gatherv"))
        MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, 2, world);
    if (all || !strcmp(what, "scatterv"))
        MPI_Scatterv(out, counts, places, MPI_BYTE, in, counts[rank], MPI_BYTE, 2, world);
    if (all || !strcmp(what, "allgather"))
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, in, 100, MPI_BYTE, world);
    if (all || !strcmp(what, "allgatherv"))
        MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, world);
    if (all || !strcmp(what, "alltoall"))
        MPI_Alltoall(out, 100, MPI_BYTE, in, 100, MPI_BYTE, world);
    if (all || !strcmp(what, "reduce_scatter"))
        MPI_Reduce_scatter(out, in, counts, MPI_CHAR, MPI_MAX, world);
    if (all || !strcmp(what, "barrier"))
        MPI_Barrier(world);
    MPI_Finalize();
    return 0;
}
