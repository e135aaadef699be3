/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/probe/cells.h"
#include "tools/probe/gap.h"
#include "tools/probe/nic_print.h"
#include "tools/probe/print.h"
#include "tools/tool.h"

/* More than this is another program, and not what looks for it. */
#define BUSY_CPUS 0.5

static const char *const quantity_names[PROBE_QUANTITIES] = { "writes", "reads", "latency" };

static const char *label_of(const struct probe_nics *nics, const struct probe_cell *cell,
                            char *text, size_t size)
{
    return nuioa_nic_label(&nics->plan.node->nics[cell->nic], text, size);
}

static const char *place_of(const struct probe_nics *nics, const struct probe_cell *cell,
                            char *text, size_t size)
{
    const struct nuioa_node *node = nics->plan.node;
    if (cell->gpu >= 0)
        snprintf(text, size, "GPU %s", node->gpus[cell->gpu].pci);
    else
        snprintf(text, size, "NUMA node %u", node->numas[cell->numa].os_index);
    return text;
}

/* Returns true if the cell is the first one of its NIC and place. */
static bool begins_row(const struct probe_nics *nics, uint32_t i)
{
    const struct probe_cell *a = &nics->cells[i], *b = i ? a - 1 : NULL;
    return !b || a->nic != b->nic || a->numa != b->numa || a->gpu != b->gpu;
}

/* Returns the cell of a row, which begins with cell i, for a quantity; or NULL. */
static const struct probe_cell *in_row(const struct probe_nics *nics, uint32_t i,
                                       enum probe_quantity quantity)
{
    for (uint32_t k = i; k < nics->count && (k == i || !begins_row(nics, k)); k++)
        if (nics->cells[k].quantity == quantity)
            return &nics->cells[k];
    return NULL;
}

/* --- text ------------------------------------------------------------------------------------- */

static double best_write(const struct probe_nics *nics, uint32_t nic)
{
    double best = 0;
    for (uint32_t i = 0; i < nics->count; i++)
        if (nics->cells[i].nic == nic && nics->cells[i].quantity == PROBE_WRITE)
            best = fmax(best, nics->cells[i].median);
    return best;
}

static void print_row(const struct probe_nics *nics, uint32_t i, FILE *out)
{
    const struct probe_cell *cell = &nics->cells[i], *write = in_row(nics, i, PROBE_WRITE);
    const struct nuioa_nic *nic = &nics->plan.node->nics[cell->nic];
    char label[48], place[32], level[16] = "-", share[16] = "-";
    if (nic->level && cell->gpu < 0)
        snprintf(level, sizeof(level), "%u", nic->level[cell->numa]);
    if (write && write->median > 0)
        snprintf(share, sizeof(share), "%.0f %%",
                 100 * write->median / best_write(nics, cell->nic));
    fprintf(out, "%-16s %-16s %5s", label_of(nics, cell, label, sizeof(label)),
            place_of(nics, cell, place, sizeof(place)), level);
    for (int q = 0; q < PROBE_QUANTITIES; q++) {
        const struct probe_cell *it = in_row(nics, i, (enum probe_quantity)q);
        if (it && it->median > 0)
            fprintf(out, " %12.0f", it->median);
        else
            fprintf(out, " %12s", "-");
    }
    fprintf(out, " %8s\n", share);
}

/* Says why cells are empty: each reason once, and few of them. */
static void print_reasons(const struct probe_nics *nics, FILE *out)
{
    enum { FEW = 6 };
    uint32_t lines = 0, left = 0;
    for (uint32_t i = 0; i < nics->count; i++) {
        const struct probe_cell *cell = &nics->cells[i];
        char label[48], place[32];
        uint32_t others = 0;
        bool said = !*cell->err.text;
        for (uint32_t k = 0; k < nics->count; k++)
            if (!strcmp(nics->cells[k].err.text, cell->err.text)) {
                said = said || k < i;
                others += k > i;
            }
        if (said)
            continue;
        if (++lines > FEW) {
            left += 1 + others;
            continue;
        }
        fprintf(out, "%s, %s, %s: %s", label_of(nics, cell, label, sizeof(label)),
                place_of(nics, cell, place, sizeof(place)), quantity_names[cell->quantity],
                cell->err.text);
        if (others)
            fprintf(out, " (and %u more)", others);
        fputc('\n', out);
    }
    if (left)
        fprintf(out, "and %u more figures are missing\n", left);
}

void probe_nics_print_load(const struct probe_nics *nics, FILE *out)
{
    if (nics->busy_before > BUSY_CPUS || nics->busy_after > BUSY_CPUS)
        fprintf(out,
                "something else ran here: it kept %.1f processors busy before, and %.1f after; "
                "figures may be too low\n",
                fmax(0, nics->busy_before), fmax(0, nics->busy_after));
}

void probe_nics_print_left_out(const struct nuioa_node *node, FILE *out)
{
    uint32_t left_out = 0, all = 0;
    for (uint32_t i = 0; i < node->numa_count; i++) {
        bool is_whole = node->numas[i].memory_bytes && !hwloc_bitmap_iszero(node->numas[i].cpus);
        all += is_whole;
        left_out += is_whole && !probe_numa_is_usable(node, i);
    }
    if (left_out)
        fprintf(out,
                "%u of the %u NUMA nodes may not be used here and are left out: in a job, srun "
                "--exclusive\n",
                left_out, all);
}

static void print_believed(const struct probe_nics *nics, FILE *out)
{
    struct probe_cost cost;
    double least = probe_gap(nics, &cost);
    double error = nuioa_measured_error(nics->mad[PROBE_WRITE], nics->plan.rounds);
    if (nics->plan.rounds < 2) {
        fprintf(out, "one round does not tell how values spread, so no difference is believed: "
                     "--rounds 5, or more\n");
        return;
    }
    fprintf(out,
            "values spread by %.1f %% (median absolute deviation), so that a median has a "
            "standard error of %.1f %%\n",
            100 * nics->mad[PROBE_WRITE], 100 * error);
    if (!cost.has_remote)
        return;
    if (cost.remote > 0)
        fprintf(
            out,
            "leaving the NIC's NUMA node costs %.1f %% of the rate; from %.1f %% on a difference "
            "is believed\n",
            100 * cost.remote / (1 + cost.remote), 100 * least);
    else
        fprintf(out,
                "distance from the NIC costs nothing here: a difference of %.1f %% would have been "
                "believed\n",
                100 * least);
    probe_print_cost(&cost, out);
}

static void print_benchmarks(const struct probe_nics *nics, FILE *out)
{
    char names[PROBE_QUANTITIES][64] = { "" };
    fprintf(out, "%s:", nics->plan.node->host);
    for (uint32_t i = 0; i < nics->count; i++) {
        const struct probe_cell *cell = &nics->cells[i];
        char *name = names[cell->quantity];
        if (cell->benchmark && !*name)
            probe_benchmark_name(cell->benchmark, name, sizeof(names[0]));
    }
    for (int q = 0; q < PROBE_QUANTITIES; q++)
        if (*names[q])
            fprintf(out, " %s by %s,", quantity_names[q], names[q]);
    fprintf(out, " %u round%s\n\n", nics->plan.rounds, nics->plan.rounds == 1 ? "" : "s");
}

void probe_nics_print(const struct probe_nics *nics, FILE *out)
{
    print_benchmarks(nics, out);
    fprintf(out, "%-16s %-16s %5s %12s %12s %12s %8s\n", "NIC", "memory", "level", "writes MB/s",
            "reads MB/s", "latency ns", "of best");
    for (uint32_t i = 0; i < nics->count; i++)
        if (begins_row(nics, i))
            print_row(nics, i, out);
    fputc('\n', out);
    print_reasons(nics, out);
    probe_nics_print_left_out(nics->plan.node, out);
    probe_nics_print_load(nics, out);
    if (nics->mad[PROBE_WRITE] > 0 || best_write(nics, nics->count ? nics->cells[0].nic : 0) > 0)
        print_believed(nics, out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *figure(const struct probe_cell *cell)
{
    return cell && cell->median > 0 ? json_real(cell->median) : json_null();
}

static json_t *row_object(const struct probe_nics *nics, uint32_t i)
{
    const struct probe_cell *cell = &nics->cells[i], *wrong = NULL;
    const struct nuioa_node *node = nics->plan.node;
    const struct nuioa_nic *nic = &node->nics[cell->nic];
    char label[48];
    for (int q = 0; q < PROBE_QUANTITIES; q++) {
        const struct probe_cell *it = in_row(nics, i, (enum probe_quantity)q);
        if (!wrong && it && *it->err.text)
            wrong = it;
    }
    return json_pack(
        "{ss so so so so so so so}", "nic", nuioa_nic_label(nic, label, sizeof(label)), "numa",
        cell->gpu < 0 ? json_integer(node->numas[cell->numa].os_index) : json_null(), "gpu",
        cell->gpu < 0 ? json_null() : json_string(node->gpus[cell->gpu].pci), "level",
        nic->level && cell->gpu < 0 ? json_integer(nic->level[cell->numa]) : json_null(),
        "write_mb_s", figure(in_row(nics, i, PROBE_WRITE)), "read_mb_s",
        figure(in_row(nics, i, PROBE_READ)), "latency_ns", figure(in_row(nics, i, PROBE_LATENCY)),
        "why", wrong ? json_string(wrong->err.text) : json_null());
}

static json_t *rounded(bool known, double value)
{
    return known ? json_real(round(value * 10000) / 10000) : json_null();
}

int probe_nics_json(const struct probe_nics *nics)
{
    struct probe_cost cost;
    double least = probe_gap(nics, &cost);
    json_t *cells = json_array();
    for (uint32_t i = 0; i < nics->count; i++)
        if (begins_row(nics, i))
            json_array_append_new(cells, row_object(nics, i));
    json_t *object =
        json_pack("{si so si so so so so so so so}", "nuioa", 1, "cells", cells, "rounds",
                  (int)nics->plan.rounds, "write_mad", rounded(true, nics->mad[PROBE_WRITE]),
                  "read_mad", rounded(true, nics->mad[PROBE_READ]), "latency_mad",
                  rounded(true, nics->mad[PROBE_LATENCY]), "believed",
                  rounded(cost.has_remote, least), "busy_cpus",
                  json_pack("[oo]", rounded(nics->busy_before >= 0, nics->busy_before),
                            rounded(nics->busy_after >= 0, nics->busy_after)),
                  "remote_cost", rounded(cost.has_remote, cost.remote), "hop_cost",
                  rounded(cost.has_hop, cost.hop));
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
