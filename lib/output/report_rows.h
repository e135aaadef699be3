/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_ROWS_H
#define NUIOA_OUTPUT_REPORT_ROWS_H

#include "output/report_table.h"
#include "plan/plan.h"

/* The rows of the table of ranks, made from a plan. */
struct nuioa_report_rows {
    uint32_t count;
    struct nuioa_report_row *row; /* [count], in the order of their first local ranks */
    uint32_t *row_of;             /* [plan->task_count]: the row of each local rank */
    uint32_t *first;              /* [count]: the first local rank of each row */
    bool lost;                    /* there was no memory for them: there is no row */
};

/* Makes the rows: one for each rank or, if `grouped`, for all ranks that share NUMA nodes, NICs,
 * GPUs, levels and memory policy. *rows is overwritten; `node` is the one that the plan was made
 * for. The caller ends with nuioa_report_rows_free, also if they are lost. */
void nuioa_report_rows_make(struct nuioa_report_rows *rows, const struct nuioa_plan *plan,
                            const struct nuioa_node *node, bool grouped);

/* Frees what *rows owns. */
void nuioa_report_rows_free(struct nuioa_report_rows *rows);

/* Writes a set to `text`, an array of `size` bytes, at least 4: "0-3", or "" if it is empty. What
 * does not fit is cut, and ends in "..". Returns `text`. */
const char *nuioa_report_set(hwloc_const_bitmap_t set, char *text, size_t size);

#endif
