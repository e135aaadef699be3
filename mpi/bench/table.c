/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/bench/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/bench/measure.h"

#define NAME_MAX_ 64

/* More than the words of a collective, times the sizes of segments that --segments may name. */
#define CANDIDATES_MAX 1024
#define NAMES_SIZE 4096

struct candidate {
    char name[NAME_MAX_];
};

/* Lists the algorithms of a collective, each without segments and with each size that is asked
 * for. */
static int candidates(const struct bench_settings *s, const struct bench_library *l,
                      const char *collective, struct candidate *list, int room)
{
    char names[NAMES_SIZE], *name, *save, *segment, *save2;
    const char *all = l->algorithms(collective);
    int n = 0;
    snprintf(names, sizeof(names), "%s", all ? all : "");
    for (name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        char segments[128];
        if (n < room && strcmp(name, "pass"))
            snprintf(list[n++].name, NAME_MAX_, "%s", name);
        snprintf(segments, sizeof(segments), "%s", s->segments ? s->segments : "");
        for (segment = strtok_r(segments, ",", &save2); segment && strcmp(name, "pass");
             segment = strtok_r(NULL, ",", &save2))
            if (n < room)
                snprintf(list[n++].name, NAME_MAX_, "%s:%s", name, segment);
    }
    return n;
}

/* Finds the fastest algorithm that gains enough, or "pass". All ranks have the same times. */
static int best_for(const struct bench_settings *s, const struct bench_world *w,
                    const struct bench_library *l, int call, uint64_t bytes,
                    const struct candidate *list, int count, char best[NAME_MAX_])
{
    const char *collective = bench_calls[call].name;
    double least = 1 / (1 + s->gain_percent / 100);
    strcpy(best, "pass");
    for (int i = 0; i < count; i++) {
        struct bench_row row;
        /* The library was asked for all its functions before.
         * NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        if (l->choose(collective, list[i].name))
            continue; /* this collective has no such algorithm with segments */
        int rc = bench_measure(s, w, call, bytes, &row);
        l->choose(collective, NULL);
        if (rc)
            return rc;
        /* The faster one of the two plain times: so chance alone rarely makes a gain. */
        double plain = row.us[BENCH_PLAIN] < row.us[BENCH_CONTROL] ? row.us[BENCH_PLAIN]
                                                                   : row.us[BENCH_CONTROL];
        double share = row.us[BENCH_LIBRARY] / plain;
        if (share < least && !row.wrong[BENCH_LIBRARY]) {
            least = share;
            memcpy(best, list[i].name, NAME_MAX_);
        }
    }
    return 0;
}

/* The rows for the largest messages come first, because the first row that matches is used. */
static int write_collective(FILE *out, const struct bench_settings *s, const struct bench_world *w,
                            const struct bench_library *l, int call)
{
    struct candidate list[CANDIDATES_MAX];
    char best[BENCH_SIZES_MAX][NAME_MAX_];
    const char *name = bench_calls[call].name;
    int count = candidates(s, l, name, list, CANDIDATES_MAX), used = 0, rc = 0;
    for (; used < s->size_count && !rc; used++) {
        if (bench_memory(&bench_calls[call], w, s->sizes[used]) > s->memory_bytes ||
            (bench_calls[call].reduces && s->sizes[used] < 4)) {
            strcpy(best[used], used ? best[used - 1] : "pass");
            continue;
        }
        rc = best_for(s, w, l, call, s->sizes[used], list, count, best[used]);
    }
    for (int i = used - 1; out && !rc && i >= 0; i--)
        if (i == 0 || strcmp(best[i], best[i - 1]))
            fprintf(out, "%-10s %d %d %10" PRIu64 " %s\n", name, w->nodes, w->most,
                    i ? s->sizes[i] : 0, best[i]);
    return rc;
}

int bench_table(const struct bench_settings *s, const struct bench_world *w,
                const struct bench_library *l)
{
    FILE *out = NULL;
    int rc = l->choose && l->algorithms ? 0 : -ENOSYS;
    if (!rc && w->rank == 0 && !(out = fopen(s->table, "w")))
        rc = -errno;
    PMPI_Allreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (out && !rc)
        fprintf(out,
                "nuioa-coll 1\n# by nuioa-bench: %d ranks on %d nodes; at least %.1f %% "
                "faster than the MPI library\n# collective nodes ranks-per-node from-bytes "
                "algorithm[:segment-bytes]\n",
                w->size, w->nodes, s->gain_percent);
    for (int i = 0; i < bench_call_count() && !rc; i++)
        /* The library was asked for all its functions before.
         * NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
        if (s->wanted[i] && l->algorithms(bench_calls[i].name))
            rc = write_collective(out, s, w, l, i);
    if (out && fclose(out) && !rc)
        rc = -errno;
    PMPI_Allreduce(MPI_IN_PLACE, &rc, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return rc;
}
