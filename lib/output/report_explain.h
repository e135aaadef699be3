/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_EXPLAIN_H
#define NUIOA_OUTPUT_REPORT_EXPLAIN_H

#include <stdio.h>

#include "output/report_table.h"

/* The table of ranks, and the parts of the report that nuioa_report_text adds with `explain`.
 * `node` is the one that the plan was made for. If there is no memory for a table, one line says so
 * instead. Errors of writing are not returned: the caller asks `out`, which stays open. */

/* Prints the table of ranks. `host` is the name of the node; if it is NULL, the table has its long
 * form, which says why each rank is where it is. Returns which of the long form's own columns it
 * has, for the other function. */
unsigned report_ranks(const struct nuioa_plan *plan, const struct nuioa_report_rows *rows,
                      const char *host, FILE *out);

/* Explains the columns that are `shown` in that table, and prints the terms of the cost J
 * (mapping/problem.h), how the mapping was found, and the facts about the node. */
void report_explain_rest(const struct nuioa_plan *plan, const struct nuioa_node *node,
                         const struct nuioa_options *options, unsigned shown, FILE *out);

/* Writes to `text`, an array of `size` bytes (64 are enough), why the task with this local rank is
 * where it is: "nearer its NIC", "gave way to rank 7", ... A text that is too long is cut. Returns
 * `text`. */
const char *nuioa_report_why(const struct nuioa_plan *plan, uint32_t local, char *text,
                             size_t size);

#endif
