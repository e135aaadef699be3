/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_CALLS_H
#define NUIOA_MPI_BENCH_CALLS_H

#include "mpi/bench/bench.h"
#include <stddef.h>

/* A collective. In this file `call` as an int is an index into bench_calls, and `bytes` is the size
 * of the message: the whole buffer of bcast, reduce and allreduce, the block of one rank of the
 * others. */
struct bench_call {
    const char *name;       /* as in the library's tables: "bcast" */
    bool rooted;            /* it has a root */
    bool reduces;           /* it adds floats, so sizes below 4 bytes are left out */
    bool many_out, many_in; /* the send, the receive buffer has a block for each rank */
};

/* The collectives that can be measured: [bench_call_count()]. */
extern const struct bench_call bench_calls[];

/* Returns the number of elements of bench_calls. */
int bench_call_count(void);

/* Returns the index into bench_calls of the collective with this name, or -ENOENT. */
int bench_call_find(const char *name);

/* The buffers of this rank for one collective and size. bench_verify fills them. */
struct bench_buffers {
    char *out, *in;             /* the send and the receive buffer */
    size_t out_bytes, in_bytes; /* their sizes in bytes */
    int *counts, *displs;       /* [world size], for the collectives with a v; blocks are equal */
};

/* Returns the number of bytes of both buffers on the rank with the largest ones. */
uint64_t bench_memory(const struct bench_call *call, const struct bench_world *world,
                      uint64_t bytes);

/* Allocates this rank's buffers for a message of `bytes` bytes, and sets them to zeros. Returns 0
 * or -ENOMEM. In both cases the caller calls bench_buffers_free. */
int bench_buffers_make(struct bench_buffers *buffers, const struct bench_call *call,
                       const struct bench_world *world, uint64_t bytes);

/* Frees the buffers and makes *buffers all zeros. */
void bench_buffers_free(struct bench_buffers *buffers);

/* Calls the collective once, by the name that `side` says, with these buffers; `root` counts if it
 * has one. All ranks of MPI_COMM_WORLD call it. MPI ends the program if the call fails. */
void bench_run(int call, enum bench_side side, const struct bench_buffers *buffers, uint64_t bytes,
               int root);

/* Does the same once with data of which the result is known. Returns the number of wrong bytes in
 * the result on this rank; 0 if this rank gets no result. */
uint64_t bench_verify(int call, enum bench_side side, const struct bench_world *world,
                      const struct bench_buffers *buffers, uint64_t bytes, int root);

/* Returns the number of bytes by which the bandwidth of a call is computed: those that a process
 * receives from the others if all receive from all, else `bytes`. */
uint64_t bench_traffic(const struct bench_call *call, const struct bench_world *world,
                       uint64_t bytes);

#endif
