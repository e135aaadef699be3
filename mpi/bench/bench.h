/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_BENCH_H
#define NUIOA_MPI_BENCH_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* nuioa-bench: what libnuioa-coll gains. Each collective is called by its MPI name, which a
 * preloaded library has overridden, and by its PMPI name, which it has not, in turns within one
 * run, so that whatever else happens on the machines meets both. */

#define BENCH_SIZES_MAX 64
#define BENCH_ROUNDS_MAX 101

/* --- the collectives (mpi/bench/calls.c)
 * ---------------------------------------------------------- */

enum bench_side { BENCH_PLAIN, BENCH_LIBRARY, BENCH_CONTROL, BENCH_SIDES };

struct bench_call {
    const char *name; /* as in the library's tables: "bcast" */
    bool rooted;
    bool reduces;           /* floats: sizes below 4 bytes are left out */
    bool many_out, many_in; /* a block for each rank is sent, is received, at the root or by all */
};

extern const struct bench_call bench_calls[];
int bench_call_count(void);
int bench_call_find(const char *name); /* -ENOENT */

struct bench_world {
    int rank, size, nodes, most; /* most: ranks on the node that has most */
};

/* Buffers for one collective and size; filled when they are to be verified. */
struct bench_buffers {
    char *out, *in;
    size_t out_bytes, in_bytes;
    int *counts, *places; /* of blocks that are all alike, for the collectives with a v */
};

/* How many bytes a rank needs at most. */
uint64_t bench_memory(const struct bench_call *call, const struct bench_world *world,
                      uint64_t bytes);
/* 0 or -ENOMEM; what was made is to be freed by bench_buffers_free in any case. */
int bench_buffers_make(struct bench_buffers *buffers, const struct bench_call *call,
                       const struct bench_world *world, uint64_t bytes);
void bench_buffers_free(struct bench_buffers *buffers);

void bench_run(int call, enum bench_side side, const struct bench_buffers *buffers, uint64_t bytes,
               int root);

/* Calls once on data of which the result is known. Returns how many bytes are wrong on this
 * rank. */
uint64_t bench_verify(int call, enum bench_side side, const struct bench_world *world,
                      const struct bench_buffers *buffers, uint64_t bytes, int root);

/* Bytes that a process gets, or sends where it is the only one that does, over the time. */
uint64_t bench_traffic(const struct bench_call *call, const struct bench_world *world,
                       uint64_t bytes);

/* --- settings and results --------------------------------------------------------------------- */

struct bench_settings {
    bool wanted[32]; /* by index into bench_calls */
    uint64_t sizes[BENCH_SIZES_MAX];
    int size_count;
    int root; /* -1: rotates, one further with each call */
    int rounds, warmup;
    long calls; /* in a round; 0: by time */
    double round_ms;
    uint64_t memory_bytes;
    bool verify, json;
    const char *table;
    double gain_percent; /* below it a table says "pass" */
    const char *segments;
};

struct bench_row {
    const struct bench_call *call;
    uint64_t bytes;
    int root;
    long calls;                  /* in all rounds, of each side */
    double us[BENCH_SIDES];      /* of a call: median of the rounds, slowest rank */
    uint64_t wrong[BENCH_SIDES]; /* bytes; 0 if not verified */
    bool verified;
};

/* --- the library (mpi/bench/library.c)
 * ------------------------------------------------------------ */

/* What libnuioa-coll offers to those who look; each NULL where it is not loaded, or by the shim. */
struct bench_library {
    const char *version;
    bool overrides; /* MPI_Bcast is somebody's else than the MPI library's */
    const char *(*algorithms)(const char *collective);
    int (*choose)(const char *collective, const char *algorithm);
};

void bench_library_find(struct bench_library *library);

/* --- measuring (mpi/bench/measure.c)
 * -------------------------------------------------------------- */

/* Fills *row; the same on all ranks. 0, or -ENOMEM on all. */
int bench_measure(const struct bench_settings *settings, const struct bench_world *world, int call,
                  uint64_t bytes, struct bench_row *row);

/* --- showing (mpi/bench/show.c), on rank 0
 * -------------------------------------------------------- */

void bench_show_begin(FILE *out, const struct bench_settings *settings,
                      const struct bench_world *world, const struct bench_library *library);
void bench_show_row(FILE *out, const struct bench_settings *settings,
                    const struct bench_world *world, const struct bench_row *row, bool first);
void bench_show_end(FILE *out, const struct bench_settings *settings);

/* --- a table for the library (mpi/bench/table.c)
 * -------------------------------------------------- */

/* Measures every algorithm for every size and writes on rank 0 what is best. 0 or -errno, the same
 * on all ranks. */
int bench_table(const struct bench_settings *settings, const struct bench_world *world,
                const struct bench_library *library);

#endif
