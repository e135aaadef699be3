/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_BENCH_H
#define NUIOA_MPI_BENCH_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* nuioa-bench measures what libnuioa-coll gains. It calls each collective by its MPI name, which a
 * preloaded library has overridden, and by its PMPI name, which it has not. The calls take turns
 * within one run, so that other load on the machines affects both. */

#define BENCH_SIZES_MAX 64
#define BENCH_ROUNDS_MAX 101

/* The PMPI name, the MPI name, and the PMPI name once more, to see how much times differ by
 * chance. */
enum bench_side { BENCH_PLAIN, BENCH_LIBRARY, BENCH_CONTROL, BENCH_SIDES };

/* The ranks of MPI_COMM_WORLD. */
struct bench_world {
    int rank, size, nodes;
    int most; /* the number of ranks on the node that has the most */
};

/* The command's options. */
struct bench_settings {
    bool wanted[32]; /* by index into bench_calls */
    uint64_t sizes[BENCH_SIZES_MAX];
    int size_count;
    int root; /* -1: another root in each call */
    int rounds, warmup;
    long calls; /* in a round; 0: as many as take round_ms */
    double round_ms;
    uint64_t memory_bytes;
    bool verify, json;
    const char *table;
    double gain_percent; /* a table says "pass" if the gain is smaller */
    const char *segments;
};

#endif
