/* SPDX-License-Identifier: BSD-3-Clause */

/* A program counts its own traffic here. The test compares the counts with the trace. */
#include <stdio.h>

#include "forms.h"

enum { RANKS_MAX = 64 };

struct known {
    long long bytes, msgs, large;
};
static struct known known[RANKS_MAX][RANKS_MAX];

static void sent_by(int from, int to, long long bytes)
{
    known[from][to].bytes += bytes;
    known[from][to].msgs++;
    known[from][to].large += bytes >= 32768 ? bytes : 0;
}

/* Rank 0 prints the pairs that the profile must have. PMPI names are used, so that the trace does
 * not count this. Afterwards all messages have arrived (see test/cluster/progress.c). */
static void print_known(int rank, int size)
{
    static struct known all[RANKS_MAX][RANKS_MAX];
    PMPI_Reduce(known, all, sizeof(known) / sizeof(long long), MPI_LONG_LONG, MPI_SUM, 0,
                MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == 0; i++)
        for (int j = 0; j < size; j++)
            if (all[i][j].msgs)
                printf("pair %d %d %lld %lld %lld\n", i, j, all[i][j].bytes, all[i][j].msgs,
                       all[i][j].large);
    fflush(stdout);
    PMPI_Barrier(MPI_COMM_WORLD);
}
