/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report_rows.h"

#include <stdlib.h>
#include <string.h>

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

static bool same_row(const struct nuioa_assignment *a, const struct nuioa_assignment *b)
{
    return nuioa_same_devices(a, b) && a->level == b->level && a->gpu_level == b->gpu_level &&
           a->memory == b->memory && hwloc_bitmap_isequal(a->numas, b->numas);
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
    hwloc_bitmap_t ranks = hwloc_bitmap_alloc(), some = hwloc_bitmap_alloc();
    *rows = (struct nuioa_report_rows){
        .row = calloc(plan->task_count + 1, sizeof(*rows->row)),
        .row_of = calloc(plan->task_count + 1, sizeof(*rows->row_of)),
        .first = calloc(plan->task_count + 1, sizeof(*rows->first)),
    };
    rows->lost = !ranks || !some || !rows->row || !rows->row_of || !rows->first;
    if (!rows->lost)
        find_rows(rows, plan, grouped);
    for (uint32_t k = 0; k < rows->count; k++) {
        describe(&rows->row[k], &plan->assignments[rows->first[k]], node, some);
        add_up(rows, k, plan, ranks, some);
    }
    hwloc_bitmap_free(ranks);
    hwloc_bitmap_free(some);
}

void nuioa_report_rows_free(struct nuioa_report_rows *rows)
{
    free(rows->row);
    free(rows->row_of);
    free(rows->first);
}
