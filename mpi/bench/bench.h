/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_BENCH_H
#define NUIOA_MPI_BENCH_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* nuioa-bench measures what libnuioa-coll gains. It calls each collective by its MPI name, which a
 * preloaded library may have overridden (libnuioa-coll has MPI_Bcast), and by its PMPI name, which
 * it has not. The calls take turns within one run, so that other load on the machines affects
 * both. */

#define BENCH_SIZES_MAX 64   /* the largest number of message sizes */
#define BENCH_ROUNDS_MAX 101 /* the largest number of rounds */

/* Which name is called: the PMPI name, the MPI name, and the PMPI name once more, to see how much
 * times differ by chance. */
enum bench_side { BENCH_PLAIN, BENCH_LIBRARY, BENCH_CONTROL, BENCH_SIDES };

/* The ranks of MPI_COMM_WORLD. */
struct bench_world {
    int rank;  /* this process's rank */
    int size;  /* the number of ranks */
    int nodes; /* the number of nodes */
    int most;  /* the number of ranks on the node that has the most */
};

/* The command's options. */
struct bench_settings {
    bool wanted[32];                 /* by index into bench_calls: the collective is measured */
    uint64_t sizes[BENCH_SIZES_MAX]; /* [size_count], ascending: message sizes in bytes */
    int size_count;
    int root;              /* the root of each call; -1: another root in each call */
    int rounds;            /* the number of rounds that are measured */
    int warmup;            /* the number of calls before them */
    long calls;            /* the number of calls in a round; 0: as many as take round_ms, but at
                              most 10000 */
    double round_ms;       /* milliseconds of a round */
    uint64_t memory_bytes; /* calls that need more memory on a rank are left out */
    bool verify, json;     /* check the results; print JSON instead of text */
    const char *table;     /* the file for the table of best algorithms; NULL: no table */
    double gain_percent;   /* a table says "pass" if the gain is smaller */
    const char *segments;  /* segment sizes in bytes to try, such as "8192,65536"; NULL: none */
};

#endif
