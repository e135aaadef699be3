/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/bench/measure.h"

#include <errno.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Returns the seconds of one call on the slowest rank. The result is the same on all ranks. */
static double round_of(int call, enum bench_side side, const struct bench_buffers *b,
                       const struct bench_settings *s, const struct bench_world *w, uint64_t bytes,
                       long calls, long *serial)
{
    int root = s->root;
    PMPI_Barrier(MPI_COMM_WORLD);
    double begin = PMPI_Wtime();
    for (long i = 0; i < calls; i++) {
        if (s->root < 0)
            root = (int)((*serial + i) % w->size);
        bench_run(call, side, b, bytes, root);
    }
    double taken = (PMPI_Wtime() - begin) / (double)calls;
    PMPI_Allreduce(MPI_IN_PLACE, &taken, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    *serial += calls;
    return taken;
}

/* Returns the calls of a round: as many as were asked for, or else as fill its time, but at most
 * 10000. These are at least one for each root. */
static long calls_for(const struct bench_settings *s, const struct bench_world *w, double seconds)
{
    if (s->calls)
        return s->calls;
    long calls = (long)(s->round_ms / 1000 / (seconds > 0 ? seconds : 1e-7));
    if (s->root < 0)
        calls = (calls + w->size - 1) / w->size * w->size;
    return calls < 1 ? 1 : calls > 10000 ? 10000 : calls;
}

static void verify(const struct bench_settings *s, const struct bench_world *w, int call,
                   const struct bench_buffers *b, struct bench_row *row)
{
    uint64_t wrong[2];
    int root = s->root < 0 ? (int)(row->bytes % (uint64_t)w->size) : s->root;
    for (int side = 0; side < 2; side++)
        wrong[side] = bench_verify(call, (enum bench_side)side, w, b, row->bytes, root);
    PMPI_Allreduce(MPI_IN_PLACE, wrong, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    row->wrong[BENCH_PLAIN] = wrong[0];
    row->wrong[BENCH_LIBRARY] = wrong[1];
    row->verified = true;
}

/* The sides take turns within a round. Each side is the first one as often as the others. */
static void rounds(const struct bench_settings *s, const struct bench_world *w, int call,
                   const struct bench_buffers *b, struct bench_row *row)
{
    double taken[BENCH_SIDES][BENCH_ROUNDS_MAX];
    long serial[BENCH_SIDES] = { 0 };
    double first = 0;
    for (int side = 0; side < BENCH_SIDES; side++)
        first =
            round_of(call, (enum bench_side)side, b, s, w, row->bytes, s->warmup, &serial[side]);
    long calls = calls_for(s, w, first);
    for (int r = 0; r < s->rounds; r++)
        for (int k = 0; k < BENCH_SIDES; k++) {
            int side = (r + k) % BENCH_SIDES;
            taken[side][r] =
                round_of(call, (enum bench_side)side, b, s, w, row->bytes, calls, &serial[side]);
        }
    for (int side = 0; side < BENCH_SIDES; side++)
        row->us[side] = median(taken[side], s->rounds) * 1e6;
    row->calls = calls * s->rounds;
}

int bench_measure(const struct bench_settings *s, const struct bench_world *w, int call,
                  uint64_t bytes, struct bench_row *row)
{
    struct bench_buffers b;
    int rc = bench_buffers_make(&b, &bench_calls[call], w, bytes);
    *row = (struct bench_row){ .call = &bench_calls[call], .bytes = bytes, .root = s->root };
    PMPI_Allreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!rc && s->verify)
        verify(s, w, call, &b, row);
    if (!rc)
        rounds(s, w, call, &b, row);
    bench_buffers_free(&b);
    return rc;
}
