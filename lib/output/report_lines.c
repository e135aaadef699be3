/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"

/* With more ranks than this, a line may have several ranks. */
#define LINES_MAX 64

const char *report_number(double value, char *text, size_t size)
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

double report_heaviest(const struct nuioa_plan *plan)
{
    double most = 0;
    for (uint32_t i = 0; i < plan->task_count; i++)
        if (plan->assignments[i].weight > most)
            most = plan->assignments[i].weight;
    return most;
}

static bool same_line(const struct nuioa_assignment *a, const struct nuioa_assignment *b)
{
    return nuioa_same_devices(a, b) && a->level == b->level && a->memory == b->memory &&
           hwloc_bitmap_isequal(a->numas, b->numas);
}

/* Makes the line that begins with local rank `first`. */
static void make_line(struct report_lines *lines, uint32_t first)
{
    const struct nuioa_plan *plan = lines->plan;
    lines->assignment = &plan->assignments[first];
    lines->weight = 0;
    lines->leads = false;
    lines->count = 0;
    hwloc_bitmap_zero(lines->ranks);
    hwloc_bitmap_zero(lines->cpus);
    for (uint32_t i = first; i < plan->task_count; i++) {
        lines->member[i] = i == first || (lines->grouped && !lines->done[i] &&
                                          same_line(lines->assignment, &plan->assignments[i]));
        if (!lines->member[i])
            continue;
        lines->done[i] = true;
        lines->count++;
        hwloc_bitmap_set(lines->ranks, plan->assignments[i].rank);
        hwloc_bitmap_or(lines->cpus, lines->cpus, plan->assignments[i].cpus);
        lines->weight += plan->assignments[i].weight;
        lines->leads = lines->leads || (plan->order_count && plan->order[0] == i);
    }
}

bool report_lines_open(struct report_lines *lines, const struct nuioa_plan *plan)
{
    *lines = (struct report_lines){ .plan = plan, .grouped = plan->task_count > LINES_MAX };
    lines->done = calloc(plan->task_count + 1, sizeof(*lines->done));
    lines->member = calloc(plan->task_count + 1, sizeof(*lines->member));
    lines->ranks = hwloc_bitmap_alloc();
    lines->cpus = hwloc_bitmap_alloc();
    return lines->done && lines->member && lines->ranks && lines->cpus;
}

bool report_lines_next(struct report_lines *lines)
{
    while (lines->next < lines->plan->task_count && lines->done[lines->next])
        lines->next++;
    if (lines->next == lines->plan->task_count)
        return false;
    memset(lines->member, 0, lines->plan->task_count * sizeof(*lines->member));
    make_line(lines, lines->next);
    return true;
}

void report_lines_close(struct report_lines *lines)
{
    free(lines->done);
    free(lines->member);
    hwloc_bitmap_free(lines->ranks);
    hwloc_bitmap_free(lines->cpus);
}

void report_add_set(struct nuioa_text_table *table, hwloc_const_bitmap_t set)
{
    char *text = NULL;
    if (hwloc_bitmap_iszero(set))
        nuioa_text_table_add(table, "-");
    else if (hwloc_bitmap_list_asprintf(&text, set) < 0)
        table->lost = true;
    else
        nuioa_text_table_add(table, "%s", text);
    free(text);
}

void report_add_location(struct nuioa_text_table *table, const struct report_lines *line)
{
    report_add_set(table, line->ranks);
    nuioa_text_table_add(table, "%s", line->leads ? "*" : "");
    report_add_set(table, line->cpus);
    report_add_set(table, line->assignment->numas);
}

void report_add_nic(struct nuioa_text_table *table, const struct nuioa_node *node,
                    const struct report_lines *line)
{
    const struct nuioa_assignment *assignment = line->assignment;
    char text[NUIOA_TEXT_TABLE_CELL];
    if (assignment->nic < 0)
        nuioa_text_table_add(table, "-");
    else
        nuioa_text_table_add(table, "%s", nuioa_nics_brief(assignment, node, text, sizeof(text)));
    nuioa_text_table_add(table, assignment->level == NUIOA_NO_LEVEL ? "-" : "%u",
                         assignment->level);
}

bool report_has_gpus(const struct nuioa_plan *plan)
{
    for (uint32_t i = 0; i < plan->task_count; i++)
        if (plan->assignments[i].gpu_count)
            return true;
    return false;
}

void report_add_gpus(struct nuioa_text_table *table, const struct report_lines *line)
{
    const struct nuioa_assignment *assignment = line->assignment;
    const char *path = nuioa_path_name(assignment->path);
    hwloc_bitmap_t gpus = hwloc_bitmap_alloc();
    if (!report_has_gpus(line->plan) || !gpus) {
        nuioa_text_table_add(table, "%s", "");
        nuioa_text_table_add(table, "%s", "");
    } else {
        for (uint32_t i = 0; i < assignment->gpu_count; i++)
            hwloc_bitmap_set(gpus, assignment->gpus[i]);
        report_add_set(table, gpus);
        nuioa_text_table_add(table, "%s", path ? path : "-");
    }
    hwloc_bitmap_free(gpus);
}

void report_add_weight(struct nuioa_text_table *table, const struct report_lines *line)
{
    char text[128];
    nuioa_text_table_add(
        table, "%s",
        report_heaviest(line->plan) > 0 ? report_number(line->weight, text, sizeof(text)) : "");
}
