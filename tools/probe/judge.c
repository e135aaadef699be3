/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/judge.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/probe/accept.h"
#include "tools/probe/nic_print.h"
#include "tools/tool.h"

/* Returns the rate of a pair's port in MB/s: that of the slower end; 0: unknown. */
static double rate_of(const struct probe_accept *a, const struct probe_cell *cell)
{
    const struct nuioa_nic *nic = &a->plan.node->nics[cell->nic];
    char label[48];
    const struct probe_remote_nic *other =
        probe_remote_find(&a->remote, nuioa_nic_label(nic, label, sizeof(label)));
    if (!other || !other->rate_mbps || !nic->rate_mbps)
        return 0;
    return fmin(other->rate_mbps, nic->rate_mbps) / 8;
}

/* Returns how much of the rate a pair reaches; 0: not known. */
static double share_of(const struct probe_accept *a, const struct probe_cell *cell)
{
    double rate = rate_of(a, cell);
    return rate > 0 ? cell->median / rate : 0;
}

/* Says in one line that a pair falls short, or that nobody can tell. Returns true if so. */
static bool falls_short(const struct probe_accept *a, const struct probe_cell *cell)
{
    char label[48], pair[256];
    double rate = rate_of(a, cell), share = share_of(a, cell);
    nuioa_nic_label(&a->plan.node->nics[cell->nic], label, sizeof(label));
    snprintf(pair, sizeof(pair), "%s, NUMA node %u of %s with %u of %s", label,
             a->plan.node->numas[cell->numa].os_index, a->step->here, cell->there, a->step->there);
    if (*cell->err.text || !(cell->median > 0))
        tool_fail("%s: %s", pair, cell->err.text);
    else if (!(rate > 0))
        tool_fail("%s: %.0f MB/s, and the rate of the port is not known", pair, cell->median);
    else if (share < a->least)
        tool_fail("%s: %.*f MB/s, %.1f %% of the port's %.0f MB/s, below %g %%", pair,
                  cell->median < 10, cell->median, 100 * share, rate, 100 * a->least);
    else
        return false;
    return true;
}

static void print_row(const struct probe_accept *a, const struct probe_cell *cell)
{
    char label[48], share[16] = "-", value[16] = "-";
    if (cell->median > 0)
        snprintf(value, sizeof(value), "%.*f", cell->median < 10, cell->median);
    if (share_of(a, cell) > 0)
        snprintf(share, sizeof(share), "%.1f %%", 100 * share_of(a, cell));
    printf("%-16s %20u %20u %12s %10s\n",
           nuioa_nic_label(&a->plan.node->nics[cell->nic], label, sizeof(label)),
           a->plan.node->numas[cell->numa].os_index, cell->there, value, share);
}

/* A benchmark that reads sends its data the other way. */
static void print_table(const struct probe_accept *a, const struct probe_nics *nics)
{
    const struct probe_benchmark *benchmark = nics->count ? nics->cells[0].benchmark : NULL;
    bool back = benchmark && benchmark->from_server;
    char program[64] = "no benchmark", here[48], there[48];
    if (benchmark)
        probe_benchmark_name(benchmark, program, sizeof(program));
    printf("from %s to %s: %s, %u round%s, to be at least %g %% of the port's rate\n\n",
           back ? a->step->there : a->step->here, back ? a->step->here : a->step->there, program,
           nics->plan.rounds, nics->plan.rounds == 1 ? "" : "s", 100 * a->least);
    snprintf(here, sizeof(here), "NUMA of %.12s", a->step->here);
    snprintf(there, sizeof(there), "NUMA of %.12s", a->step->there);
    printf("%-16s %20s %20s %12s %10s\n", "NIC", here, there, "MB/s", "of rate");
    for (uint32_t i = 0; i < nics->count; i++)
        print_row(a, &nics->cells[i]);
    putchar('\n');
    probe_nics_print_left_out(a->plan.node, stdout);
    probe_nics_print_load(nics, stdout);
}

static json_t *number(double value)
{
    return value > 0 ? json_real(round(value * 1e6) / 1e6) : json_null();
}

static json_t *pair_object(const struct probe_accept *a, const struct probe_cell *cell)
{
    char label[48];
    return json_pack("{ss si si so so so so}", "nic",
                     nuioa_nic_label(&a->plan.node->nics[cell->nic], label, sizeof(label)), "numa",
                     (int)a->plan.node->numas[cell->numa].os_index, "peer_numa", (int)cell->there,
                     "mb_s", number(cell->median), "rate_mb_s", number(rate_of(a, cell)), "share",
                     number(share_of(a, cell)), "why",
                     *cell->err.text ? json_string(cell->err.text) : json_null());
}

static int print_json(const struct probe_accept *a, const struct probe_nics *nics)
{
    json_t *pairs = json_array();
    for (uint32_t i = 0; i < nics->count; i++)
        json_array_append_new(pairs, pair_object(a, &nics->cells[i]));
    json_t *object = json_pack("{si ss ss so sf si so}", "nuioa", 1, "node", a->step->here, "peer",
                               a->step->there, "pairs", pairs, "at_least", a->least, "rounds",
                               (int)nics->plan.rounds, "mad",
                               json_real(round(nics->mad[PROBE_WRITE] * 10000) / 10000));
    char *text =
        object ? json_dumps(object, JSON_ENSURE_ASCII | JSON_INDENT(2) | JSON_REAL_PRECISION(9))
               : NULL;
    json_decref(object);
    if (!text)
        return tool_fail("out of memory");
    puts(text);
    free(text);
    return TOOL_DONE;
}

int probe_judge(const struct probe_accept *a, const struct probe_nics *nics)
{
    int status = TOOL_DONE;
    if (a->json)
        status = print_json(a, nics);
    else
        print_table(a, nics);
    fflush(stdout);
    for (uint32_t i = 0; i < nics->count; i++)
        if (falls_short(a, &nics->cells[i]))
            status = TOOL_UNANSWERED;
    return nics->count ? status : tool_fail("%s: nothing was measured", a->step->here);
}
