/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_EXPLAIN_H
#define NUIOA_OUTPUT_REPORT_EXPLAIN_H

#include <stdio.h>

#include "plan/plan.h"

/* Instead of the plain table: each line ends in why. */
void report_explain_ranks(const struct nuioa_plan *plan, const struct nuioa_node *node, FILE *out);

/* What J is made of, who is how far, how it was chosen, the facts about the node. */
void report_explain_rest(const struct nuioa_plan *plan, const struct nuioa_node *node,
                         const struct nuioa_options *options, FILE *out);

/* "nearer its NIC", "gave way to rank 7", ...: why the task with this local rank is where it is.
 * Returns text. */
const char *nuioa_report_why(const struct nuioa_plan *plan, uint32_t local, char *text,
                             size_t size);

#endif
