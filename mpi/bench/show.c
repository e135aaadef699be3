/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/bench/show.h"

#include <inttypes.h>

static double gain(const struct bench_row *row, enum bench_side side)
{
    return (row->us[BENCH_PLAIN] / row->us[side] - 1) * 100;
}

static double throughput(const struct bench_row *row, const struct bench_world *w,
                         enum bench_side side)
{
    return (double)bench_traffic(row->call, w, row->bytes) / row->us[side];
}

static const char *verdict(const struct bench_row *row)
{
    if (!row->verified)
        return "-";
    return row->wrong[BENCH_PLAIN] || row->wrong[BENCH_LIBRARY] ? "WRONG" : "right";
}

static const char *library_name(const struct bench_library *l)
{
    return l->version ? l->version : l->overrides ? "yes" : "none";
}

void bench_show_begin(FILE *out, const struct bench_settings *s, const struct bench_world *w,
                      const struct bench_library *l)
{
    if (s->json) {
        fprintf(out,
                "{ \"nuioa\": 1, \"ranks\": %d, \"nodes\": %d, \"ranks_per_node\": %d, "
                "\"library\": \"%s\", \"rounds\": %d,\n  \"rows\": [\n",
                w->size, w->nodes, w->most, library_name(l), s->rounds);
        return;
    }
    fprintf(out, "# %d ranks on %d nodes, at most %d on one; library: %s%s\n", w->size, w->nodes,
            w->most, library_name(l),
            l->overrides ? "" : " (both sides are the MPI library's own)");
    fprintf(out,
            "# us: of a call, the slowest rank, median of %d rounds; control: the plain MPI "
            "once more\n",
            s->rounds);
    fprintf(out, "%-10s %9s %5s %7s %11s %11s %8s %8s %8s %8s %6s\n", "collective", "bytes", "root",
            "calls", "plain us", "library us", "gain %", "control", "plain", "library", "result");
    fprintf(out, "%-10s %9s %5s %7s %11s %11s %8s %8s %8s %8s %6s\n", "", "", "", "", "", "", "",
            "%", "MB/s", "MB/s", "");
}

static void show_json(FILE *out, const struct bench_world *w, const struct bench_row *row,
                      bool first)
{
    fprintf(out, "%s    { \"collective\": \"%s\", \"bytes\": %" PRIu64 ", \"root\": ",
            first ? "" : ",\n", row->call->name, row->bytes);
    if (!row->call->rooted)
        fprintf(out, "null");
    else if (row->root < 0)
        fprintf(out, "\"rotate\"");
    else
        fprintf(out, "%d", row->root);
    fprintf(out,
            ", \"calls\": %ld,\n      \"plain_us\": %.3f, \"library_us\": %.3f, "
            "\"control_us\": %.3f, \"plain_mb_per_s\": %.3f, \"library_mb_per_s\": %.3f, "
            "\"wrong_bytes\": ",
            row->calls, row->us[BENCH_PLAIN], row->us[BENCH_LIBRARY], row->us[BENCH_CONTROL],
            throughput(row, w, BENCH_PLAIN), throughput(row, w, BENCH_LIBRARY));
    if (row->verified)
        fprintf(out, "%" PRIu64 " }", row->wrong[BENCH_PLAIN] + row->wrong[BENCH_LIBRARY]);
    else
        fprintf(out, "null }");
}

void bench_show_row(FILE *out, const struct bench_settings *s, const struct bench_world *w,
                    const struct bench_row *row, bool first)
{
    char root[16] = "-";
    if (s->json) {
        show_json(out, w, row, first);
        return;
    }
    if (row->call->rooted)
        snprintf(root, sizeof(root), row->root < 0 ? "turns" : "%d", row->root);
    fprintf(out, "%-10s %9" PRIu64 " %5s %7ld %11.2f %11.2f %8.1f %8.1f %8.1f %8.1f %6s\n",
            row->call->name, row->bytes, root, row->calls, row->us[BENCH_PLAIN],
            row->us[BENCH_LIBRARY], gain(row, BENCH_LIBRARY), gain(row, BENCH_CONTROL),
            throughput(row, w, BENCH_PLAIN), throughput(row, w, BENCH_LIBRARY), verdict(row));
    fflush(out);
}

void bench_show_end(FILE *out, const struct bench_settings *s)
{
    if (s->json)
        fprintf(out, "\n  ] }\n");
}
