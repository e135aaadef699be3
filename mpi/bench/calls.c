/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/bench/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define CALLS(X) \
    X(Bcast) X(Reduce) X(Allreduce) X(Allgather) X(Allgatherv) X(Gather) X(Gatherv) X(Scatter) \
    X(Scatterv) X(Alltoall)
#define TAG(name) CALL_##name,
#define MEMBER(name) __typeof__(&MPI_##name) name;
#define OURS(name) .name = MPI_##name,
#define THEIRS(name) .name = PMPI_##name,

enum { CALLS(TAG) CALL_COUNT };
static const struct { CALLS(MEMBER) } sides[2] = { { CALLS(THEIRS) }, { CALLS(OURS) } };
/* clang-format on */

const struct bench_call bench_calls[] = {
    [CALL_Bcast] = { "bcast", true, false, false, false },
    [CALL_Reduce] = { "reduce", true, true, false, false },
    [CALL_Allreduce] = { "allreduce", false, true, false, false },
    [CALL_Allgather] = { "allgather", false, false, false, true },
    [CALL_Allgatherv] = { "allgatherv", false, false, false, true },
    [CALL_Gather] = { "gather", true, false, false, true },
    [CALL_Gatherv] = { "gatherv", true, false, false, true },
    [CALL_Scatter] = { "scatter", true, false, true, false },
    [CALL_Scatterv] = { "scatterv", true, false, true, false },
    [CALL_Alltoall] = { "alltoall", false, false, true, true },
};

int bench_call_count(void)
{
    return CALL_COUNT;
}

int bench_call_find(const char *name)
{
    for (int i = 0; i < CALL_COUNT; i++)
        if (!strcmp(bench_calls[i].name, name))
            return i;
    return -ENOENT;
}

/* --- buffers ---------------------------------------------------------------------------------- */

static uint64_t out_bytes(const struct bench_call *c, const struct bench_world *w, uint64_t bytes)
{
    return c->many_out ? bytes * (uint64_t)w->size : bytes;
}

static uint64_t in_bytes(const struct bench_call *c, const struct bench_world *w, uint64_t bytes)
{
    return c->many_in ? bytes * (uint64_t)w->size : bytes;
}

uint64_t bench_memory(const struct bench_call *c, const struct bench_world *w, uint64_t bytes)
{
    return out_bytes(c, w, bytes) + in_bytes(c, w, bytes);
}

int bench_buffers_make(struct bench_buffers *b, const struct bench_call *c,
                       const struct bench_world *w, uint64_t bytes)
{
    *b = (struct bench_buffers){
        .out_bytes = out_bytes(c, w, bytes),
        .in_bytes = in_bytes(c, w, bytes),
    };
    b->out = malloc(b->out_bytes);
    b->in = malloc(b->in_bytes);
    b->counts = malloc(sizeof(*b->counts) * (size_t)w->size);
    b->displs = malloc(sizeof(*b->displs) * (size_t)w->size);
    if (!b->out || !b->in || !b->counts || !b->displs)
        return -ENOMEM;
    memset(b->out, 0, b->out_bytes); /* so that the pages are allocated before the first call */
    memset(b->in, 0, b->in_bytes);
    for (int i = 0; i < w->size; i++) {
        b->counts[i] = (int)bytes;
        b->displs[i] = (int)(bytes * (uint64_t)i);
    }
    return 0;
}

void bench_buffers_free(struct bench_buffers *b)
{
    free(b->out);
    free(b->in);
    free(b->counts);
    free(b->displs);
    *b = (struct bench_buffers){ 0 };
}

/* --- calling ---------------------------------------------------------------------------------- */

void bench_run(int call, enum bench_side side, const struct bench_buffers *b, uint64_t bytes,
               int root)
{
    const __typeof__(sides[0]) *f = &sides[side == BENCH_LIBRARY];
    int n = (int)bytes;
    MPI_Comm world = MPI_COMM_WORLD;
    switch (call) {
    case CALL_Bcast: f->Bcast(b->in, n, MPI_BYTE, root, world); break;
    case CALL_Reduce: f->Reduce(b->out, b->in, n / 4, MPI_FLOAT, MPI_SUM, root, world); break;
    case CALL_Allreduce: f->Allreduce(b->out, b->in, n / 4, MPI_FLOAT, MPI_SUM, world); break;
    case CALL_Allgather: f->Allgather(b->out, n, MPI_BYTE, b->in, n, MPI_BYTE, world); break;
    case CALL_Allgatherv:
        f->Allgatherv(b->out, n, MPI_BYTE, b->in, b->counts, b->displs, MPI_BYTE, world);
        break;
    case CALL_Gather: f->Gather(b->out, n, MPI_BYTE, b->in, n, MPI_BYTE, root, world); break;
    case CALL_Gatherv:
        f->Gatherv(b->out, n, MPI_BYTE, b->in, b->counts, b->displs, MPI_BYTE, root, world);
        break;
    case CALL_Scatter: f->Scatter(b->out, n, MPI_BYTE, b->in, n, MPI_BYTE, root, world); break;
    case CALL_Scatterv:
        f->Scatterv(b->out, b->counts, b->displs, MPI_BYTE, b->in, n, MPI_BYTE, root, world);
        break;
    default: f->Alltoall(b->out, n, MPI_BYTE, b->in, n, MPI_BYTE, world);
    }
}

uint64_t bench_traffic(const struct bench_call *c, const struct bench_world *w, uint64_t bytes)
{
    bool all = c->many_in && !c->rooted;
    return all ? bytes * (uint64_t)(w->size - 1) : bytes;
}

/* --- verifying -------------------------------------------------------------------------------- */

/* Returns byte i of the block that one rank sends to another. It differs from size to size. */
static char pattern(int from, int to, uint64_t bytes, uint64_t i)
{
    uint64_t x = (uint64_t)from * 131 + (uint64_t)to * 31 + bytes * 7 + i + (i >> 8) * 3;
    return (char)(x ^ x >> 11);
}

/* Returns element i of a rank: a whole number, so that sums are exact. */
static float number(int rank, uint64_t i)
{
    return (float)((i + (uint64_t)rank * 5) % 13);
}

static void fill(const struct bench_call *c, const struct bench_world *w, char *at, uint64_t bytes,
                 bool many)
{
    float *numbers = (float *)at;
    if (c->reduces) {
        for (uint64_t i = 0; i < bytes / 4; i++)
            numbers[i] = number(w->rank, i);
        return;
    }
    for (int to = 0; to < (many ? w->size : 1); to++)
        for (uint64_t i = 0; i < bytes; i++)
            at[(uint64_t)to * bytes + i] = pattern(w->rank, many ? to : 0, bytes, i);
}

static uint64_t wrong_sums(const struct bench_world *w, const char *in, uint64_t bytes)
{
    const float *sums = (const float *)in;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < bytes / 4; i++) {
        float sum = 0;
        for (int r = 0; r < w->size; r++)
            sum += number(r, i);
        wrong += sums[i] != sum ? 4 : 0;
    }
    return wrong;
}

static uint64_t wrong_bytes(const struct bench_call *c, const struct bench_world *w, const char *in,
                            uint64_t bytes, int root)
{
    uint64_t wrong = 0;
    for (int k = 0; k < (c->many_in ? w->size : 1); k++) {
        int from = c->many_in ? k : root, to = c->many_out ? w->rank : 0;
        for (uint64_t i = 0; i < bytes; i++)
            wrong += in[(uint64_t)k * bytes + i] != pattern(from, to, bytes, i);
    }
    return wrong;
}

uint64_t bench_verify(int call, enum bench_side side, const struct bench_world *w,
                      const struct bench_buffers *b, uint64_t bytes, int root)
{
    const struct bench_call *c = &bench_calls[call];
    bool at_root = c->rooted && w->rank != root;
    memset(b->in, 0x55, b->in_bytes);
    fill(c, w, b->out, bytes, c->many_out);
    if (call == CALL_Bcast && w->rank == root)
        fill(c, w, b->in, bytes, false);
    bench_run(call, side, b, bytes, root);
    if (at_root && (c->reduces || c->many_in))
        return 0; /* only the root has a result to check */
    return c->reduces ? wrong_sums(w, b->in, bytes) : wrong_bytes(c, w, b->in, bytes, root);
}
