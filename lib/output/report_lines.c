/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report_lines.h"

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

static bool same_line(const struct nuioa_assignment *a, const struct nuioa_assignment *b)
{
    return nuioa_same_devices(a, b) && a->level == b->level && a->gpu_level == b->gpu_level &&
           a->memory == b->memory && hwloc_bitmap_isequal(a->numas, b->numas);
}

/* Numbers the lines, and says which local ranks are in which. */
static void find_lines(struct nuioa_report_lines *lines, const struct nuioa_plan *plan,
                       bool grouped)
{
    for (uint32_t i = 0; i < plan->task_count; i++) {
        uint32_t line = grouped ? 0 : lines->count;
        while (line < lines->count &&
               !same_line(&plan->assignments[lines->first[line]], &plan->assignments[i]))
            line++;
        if (line == lines->count)
            lines->first[lines->count++] = i;
        lines->line_of[i] = line;
    }
}

/* Fills in what all ranks of a line have in common. */
static void describe(struct nuioa_report_line *line, const struct nuioa_assignment *assignment,
                     const struct nuioa_node *node, hwloc_bitmap_t gpus)
{
    const char *path = nuioa_path_name(assignment->path);
    char text[128];
    nuioa_report_set(assignment->numas, line->numas, sizeof(line->numas));
    fit(line->memory, sizeof(line->memory), nuioa_memory_text(assignment, text, sizeof(text)));
    nuioa_nics_brief(assignment, node, line->nic, sizeof(line->nic));
    hwloc_bitmap_zero(gpus);
    for (uint32_t i = 0; i < assignment->gpu_count; i++)
        hwloc_bitmap_set(gpus, assignment->gpus[i]);
    nuioa_report_set(gpus, line->gpus, sizeof(line->gpus));
    fit(line->path, sizeof(line->path), path ? path : "");
    line->level = assignment->level;
    line->gpu_level = assignment->gpu_level;
}

/* Adds up the ranks of line `k`. */
static void add_up(struct nuioa_report_lines *lines, uint32_t k, const struct nuioa_plan *plan,
                   hwloc_bitmap_t ranks, hwloc_bitmap_t cpus)
{
    struct nuioa_report_line *line = &lines->line[k];
    double weight = 0;
    hwloc_bitmap_zero(ranks);
    hwloc_bitmap_zero(cpus);
    for (uint32_t i = lines->first[k]; i < plan->task_count; i++) {
        if (lines->line_of[i] != k)
            continue;
        hwloc_bitmap_set(ranks, plan->assignments[i].rank);
        hwloc_bitmap_or(cpus, cpus, plan->assignments[i].cpus);
        weight += plan->assignments[i].weight;
        line->count++;
        line->leads = line->leads || (plan->order_count && plan->order[0] == i);
    }
    line->weight = plan->hinted ? weight : -1;
    nuioa_report_set(ranks, line->ranks, sizeof(line->ranks));
    nuioa_report_set(cpus, line->cpus, sizeof(line->cpus));
}

void nuioa_report_lines_make(struct nuioa_report_lines *lines, const struct nuioa_plan *plan,
                             const struct nuioa_node *node, bool grouped)
{
    hwloc_bitmap_t ranks = hwloc_bitmap_alloc(), some = hwloc_bitmap_alloc();
    *lines = (struct nuioa_report_lines){
        .line = calloc(plan->task_count + 1, sizeof(*lines->line)),
        .line_of = calloc(plan->task_count + 1, sizeof(*lines->line_of)),
        .first = calloc(plan->task_count + 1, sizeof(*lines->first)),
    };
    lines->lost = !ranks || !some || !lines->line || !lines->line_of || !lines->first;
    if (!lines->lost)
        find_lines(lines, plan, grouped);
    for (uint32_t k = 0; k < lines->count; k++) {
        describe(&lines->line[k], &plan->assignments[lines->first[k]], node, some);
        add_up(lines, k, plan, ranks, some);
    }
    hwloc_bitmap_free(ranks);
    hwloc_bitmap_free(some);
}

void nuioa_report_lines_free(struct nuioa_report_lines *lines)
{
    free(lines->line);
    free(lines->line_of);
    free(lines->first);
}

struct nuioa_report_totals nuioa_report_totals(const struct nuioa_plan *plan,
                                               const struct nuioa_node *node)
{
    struct nuioa_report_totals totals = {
        .host = node->host,
        .nodes = 1,
        .ranks = plan->task_count,
        .policy = plan->policy,
        .planned = plan->planned,
        .leads = plan->order_count > 0,
        .before = plan->gpus_left ? -1 : plan->before.j,
        .after = plan->after.j,
        .bound = plan->bound_known ? plan->bound : -1,
    };
    for (uint32_t i = 0; i < plan->task_count; i++)
        totals.moved += plan->assignments[i].moved;
    return totals;
}
