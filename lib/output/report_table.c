/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report_table.h"

#include <math.h>
#include <string.h>

#include "util/number.h"

/* The bar of the heaviest rank. */
static const char full_bar[] = "####################";

/* --- numbers --- */

const char *nuioa_report_number(double value, char *text, size_t size)
{
    if (value >= 1e5) {
        value = round(value);
    } else if (value > 0) {
        double scale = pow(10, 5 - floor(log10(value)));
        if (isfinite(scale))
            value = round(value * scale) / scale;
    }
    return nuioa_print_decimal(value, text, size);
}

const char *nuioa_report_rate(uint32_t mbps, char *text, size_t size)
{
    if (!mbps)
        snprintf(text, size, "-");
    else if (mbps < 1000)
        snprintf(text, size, "%u Mb/s", mbps);
    else
        snprintf(text, size, mbps % 1000 ? "%.1f Gb/s" : "%.0f Gb/s", mbps / 1000.0);
    return text;
}

const char *nuioa_report_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* --- the rows --- */

const char *nuioa_report_set(hwloc_const_bitmap_t set, char *text, size_t size)
{
    if (hwloc_bitmap_list_snprintf(text, size, set) >= (int)size)
        memcpy(text + size - 3, "..", 3);
    return text;
}

/* Copies a text; one that does not fit ends in "..". */
static void fit(char *to, size_t size, const char *text)
{
    if (nuioa_copy(to, size, text) < 0)
        memcpy(to + size - 3, "..", 3);
}

static bool same_numbers(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
    return a_count == b_count && (!a_count || !memcmp(a, b, a_count * sizeof(*a)));
}

static bool same_row(const struct nuioa_assignment *a, const struct nuioa_assignment *b)
{
    return same_numbers(a->nics, a->nic_count, b->nics, b->nic_count) &&
           same_numbers(a->gpus, a->gpu_count, b->gpus, b->gpu_count) && a->level == b->level &&
           a->gpu_level == b->gpu_level && a->memory == b->memory &&
           hwloc_bitmap_isequal(a->numas, b->numas);
}

/* Numbers the rows, and says which local ranks are in which. */
static void find_rows(struct nuioa_report_rows *rows, const struct nuioa_plan *plan, bool grouped)
{
    for (uint32_t i = 0; i < plan->task_count; i++) {
        uint32_t row = grouped ? 0 : rows->count;
        while (row < rows->count &&
               !same_row(&plan->assignments[rows->first[row]], &plan->assignments[i]))
            row++;
        if (row == rows->count)
            rows->first[rows->count++] = i;
        rows->row_of[i] = row;
    }
}

/* Fills in what all ranks of a row have in common. */
static void describe(struct nuioa_report_row *row, const struct nuioa_assignment *assignment,
                     const struct nuioa_node *node, hwloc_bitmap_t gpus)
{
    const char *path = nuioa_path_name(assignment->path);
    char text[128];
    nuioa_report_set(assignment->numas, row->numas, sizeof(row->numas));
    fit(row->memory, sizeof(row->memory), nuioa_memory_text(assignment, text, sizeof(text)));
    nuioa_report_nics(assignment, node, row->nic, sizeof(row->nic));
    hwloc_bitmap_zero(gpus);
    for (uint32_t i = 0; i < assignment->gpu_count; i++)
        hwloc_bitmap_set(gpus, assignment->gpus[i]);
    nuioa_report_set(gpus, row->gpus, sizeof(row->gpus));
    fit(row->path, sizeof(row->path), path ? path : "");
    row->level = assignment->level;
    row->gpu_level = assignment->gpu_level;
}

/* Adds up the ranks of row `k`. */
static void add_up(struct nuioa_report_rows *rows, uint32_t k, const struct nuioa_plan *plan,
                   hwloc_bitmap_t ranks, hwloc_bitmap_t cpus)
{
    struct nuioa_report_row *row = &rows->row[k];
    double weight = 0;
    hwloc_bitmap_zero(ranks);
    hwloc_bitmap_zero(cpus);
    for (uint32_t i = rows->first[k]; i < plan->task_count; i++) {
        if (rows->row_of[i] != k)
            continue;
        hwloc_bitmap_set(ranks, plan->assignments[i].rank);
        hwloc_bitmap_or(cpus, cpus, plan->assignments[i].cpus);
        weight += plan->assignments[i].weight;
        row->count++;
        row->leads = row->leads || (plan->order_count && plan->order[0] == i);
    }
    row->weight = plan->hinted ? weight : -1;
    nuioa_report_set(ranks, row->ranks, sizeof(row->ranks));
    nuioa_report_set(cpus, row->cpus, sizeof(row->cpus));
}

void nuioa_report_rows_make(struct nuioa_report_rows *rows, const struct nuioa_plan *plan,
                            const struct nuioa_node *node, bool grouped)
{
    struct nuioa_arena *arena = &rows->arena;
    *rows = (struct nuioa_report_rows){ 0 };
    rows->row = nuioa_arena_take(arena, plan->task_count, sizeof(*rows->row));
    rows->row_of = nuioa_arena_take(arena, plan->task_count, sizeof(*rows->row_of));
    rows->first = nuioa_arena_take(arena, plan->task_count, sizeof(*rows->first));
    hwloc_bitmap_t ranks = nuioa_arena_bitmap(arena, NULL), some = nuioa_arena_bitmap(arena, NULL);
    if (!arena->failed)
        find_rows(rows, plan, grouped);
    for (uint32_t k = 0; k < rows->count; k++) {
        describe(&rows->row[k], &plan->assignments[rows->first[k]], node, some);
        add_up(rows, k, plan, ranks, some);
    }
}

/* --- the table --- */

const char *nuioa_report_nics(const struct nuioa_assignment *assignment,
                              const struct nuioa_node *node, char *text, size_t size)
{
    char label[48];
    *text = '\0';
    if (assignment->nic_count <= 2 && nuioa_nics_text(assignment, node, text, size))
        return text;
    *text = '\0';
    if (assignment->nic_count)
        snprintf(text, size, "%s +%u",
                 nuioa_nic_label(&node->nics[assignment->nics[0]], label, sizeof(label)),
                 assignment->nic_count - 1);
    return text;
}

void nuioa_report_add_heads(struct nuioa_text_table *table)
{
    nuioa_text_table_add_words(table,
                               "node|rank||CPUs|NUMA|memory|NIC|level|GPU|to GPU|path|weight|");
}

static const char *or_dash(const char *text)
{
    return *text ? text : "-";
}

void nuioa_report_add_row(struct nuioa_text_table *table, const char *host,
                          const struct nuioa_report_row *row, double heaviest)
{
    char weight[32], level[12] = "";
    double share = heaviest > 0 && row->count == 1 ? row->weight / heaviest : 0;
    int bar = share > 0 && share <= 1 ? (int)(share * (sizeof(full_bar) - 1) + 0.5) : 0;
    if (row->gpu_level != UINT32_MAX)
        snprintf(level, sizeof(level), "%u", row->gpu_level);
    nuioa_text_table_add(table, "%s", host ? host : "");
    nuioa_text_table_add(table, "%s", or_dash(row->ranks));
    nuioa_text_table_add(table, "%s", row->leads ? "*" : "");
    nuioa_text_table_add(table, "%s", or_dash(row->cpus));
    nuioa_text_table_add(table, "%s", or_dash(row->numas));
    nuioa_text_table_add(table, "%s", host ? row->memory : "");
    nuioa_text_table_add(table, "%s", or_dash(row->nic));
    nuioa_text_table_add(table, row->level == UINT32_MAX ? "-" : "%u", row->level);
    nuioa_text_table_add(table, "%s", row->gpus);
    nuioa_text_table_add(table, "%s", level);
    nuioa_text_table_add(table, "%s", row->path);
    nuioa_text_table_add(
        table, "%s",
        row->weight < 0 ? "" : nuioa_report_number(row->weight, weight, sizeof(weight)));
    nuioa_text_table_add(table, "%.*s", bar, full_bar);
}
