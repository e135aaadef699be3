/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_LINES_H
#define NUIOA_OUTPUT_REPORT_LINES_H

#include "output/report_table.h"
#include "plan/plan.h"

/* The lines of the table of ranks, made from a plan. */
struct nuioa_report_lines {
    uint32_t count;
    struct nuioa_report_line *line; /* [count], in the order of their first local ranks */
    uint32_t *line_of;              /* [plan->task_count]: the line of each local rank */
    uint32_t *first;                /* [count]: the first local rank of each line */
    bool lost;                      /* there was no memory for them: there is no line */
};

/* Makes the lines: one for each rank or, if `grouped`, for all ranks that share NUMA nodes, NICs,
 * GPUs, levels and memory policy. *lines is overwritten; `node` is the one that the plan was made
 * for. The caller ends with nuioa_report_lines_free, also if they are lost. */
void nuioa_report_lines_make(struct nuioa_report_lines *lines, const struct nuioa_plan *plan,
                             const struct nuioa_node *node, bool grouped);

/* Frees what *lines owns. */
void nuioa_report_lines_free(struct nuioa_report_lines *lines);

/* Returns what is said of all ranks of the plan. The name of the host is that of `node`. */
struct nuioa_report_totals nuioa_report_totals(const struct nuioa_plan *plan,
                                               const struct nuioa_node *node);

/* Writes a set to `text`, an array of `size` bytes, at least 4: "0-3", or "" if it is empty. What
 * does not fit is cut, and ends in "..". Returns `text`. */
const char *nuioa_report_set(hwloc_const_bitmap_t set, char *text, size_t size);

#endif
