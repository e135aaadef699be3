/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_MEASURE_H
#define NUIOA_MPI_BENCH_MEASURE_H

#include "mpi/bench/calls.h"

/* The result for one collective and size. */
struct bench_row {
    const struct bench_call *call;
    uint64_t bytes;              /* the size of the message, as in calls.h */
    int root;                    /* -1: another root in each call */
    long calls;                  /* number of calls of each side, in all rounds */
    double us[BENCH_SIDES];      /* microseconds of a call on the slowest rank: median of rounds */
    uint64_t wrong[BENCH_SIDES]; /* number of wrong bytes on all ranks; 0 if not verified */
    bool verified;               /* the results were checked */
};

/* Measures the collective bench_calls[call] with messages of `bytes` bytes, and fills *row, which
 * is the same on all ranks. All ranks of MPI_COMM_WORLD call it. Returns 0 on all ranks, or -ENOMEM
 * on all if one has no memory; then the times in *row are 0. */
int bench_measure(const struct bench_settings *settings, const struct bench_world *world, int call,
                  uint64_t bytes, struct bench_row *row);

#endif
