/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_MEASURE_H
#define NUIOA_MPI_BENCH_MEASURE_H

#include "mpi/bench/calls.h"

/* The result for one collective and size. */
struct bench_row {
    const struct bench_call *call;
    uint64_t bytes;
    int root;
    long calls;                  /* of each side, in all rounds */
    double us[BENCH_SIDES];      /* time of a call on the slowest rank: median of the rounds */
    uint64_t wrong[BENCH_SIDES]; /* number of wrong bytes; 0 if not verified */
    bool verified;
};

/* Measures one collective and size, and fills *row, which is the same on all ranks. Returns 0 on
 * all ranks, or -ENOMEM on all. */
int bench_measure(const struct bench_settings *settings, const struct bench_world *world, int call,
                  uint64_t bytes, struct bench_row *row);

#endif
