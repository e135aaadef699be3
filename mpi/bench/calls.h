/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_CALLS_H
#define NUIOA_MPI_BENCH_CALLS_H

#include "mpi/bench/bench.h"
#include <stddef.h>

struct bench_call {
    const char *name; /* as in the library's tables: "bcast" */
    bool rooted;
    bool reduces;           /* it adds floats, so sizes below 4 bytes are left out */
    bool many_out, many_in; /* the send, the receive buffer has a block for each rank */
};

/* The collectives that are measured. */
extern const struct bench_call bench_calls[];
int bench_call_count(void);

/* Returns the index of the collective with this name, or -ENOENT. */
int bench_call_find(const char *name);

/* The buffers for one collective and size. bench_verify fills them. */
struct bench_buffers {
    char *out, *in;
    size_t out_bytes, in_bytes;
    int *counts, *displs; /* for the collectives with a v; all blocks are equal */
};

/* Returns the bytes that the rank with the largest buffers needs. */
uint64_t bench_memory(const struct bench_call *call, const struct bench_world *world,
                      uint64_t bytes);

/* Allocates the buffers. Returns 0 or -ENOMEM. In both cases the caller calls
 * bench_buffers_free. */
int bench_buffers_make(struct bench_buffers *buffers, const struct bench_call *call,
                       const struct bench_world *world, uint64_t bytes);
void bench_buffers_free(struct bench_buffers *buffers);

/* Calls the collective with index `call` once. Collective over MPI_COMM_WORLD. */
void bench_run(int call, enum bench_side side, const struct bench_buffers *buffers, uint64_t bytes,
               int root);

/* Calls it once with data of which the result is known. Returns the number of wrong bytes on this
 * rank. */
uint64_t bench_verify(int call, enum bench_side side, const struct bench_world *world,
                      const struct bench_buffers *buffers, uint64_t bytes, int root);

/* Returns the bytes that a process receives; or those that it sends, if only one process sends. */
uint64_t bench_traffic(const struct bench_call *call, const struct bench_world *world,
                       uint64_t bytes);

#endif
