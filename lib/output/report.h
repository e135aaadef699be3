/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_H
#define NUIOA_OUTPUT_REPORT_H

#include "output/report_xml.h"
#include "plan/plan.h"

/* Reports of a plan, for people, and masks for srun. All functions only read their input, and
 * return a new text that the caller frees with free(), or NULL if memory is short. `node` and
 * `options` are those that the plan was made with. Texts for people are ASCII, but for the names of
 * files and hosts in them. Their lines have at most 100 columns, but for longer words. */

/* Returns the report of a plan: a summary line; a table with a line for each rank (above
 * NUIOA_REPORT_RANKS_MAX ranks it is grouped, as nuioa_report_rows_make says); the reason; what
 * the user may type; the cost before and after; and the warnings.
 *
 * With `explain` the table also has, for a line of one rank: `before`, its level where Slurm put
 * it, if that was another one; `order`, its position by weight; `local`, the part of its traffic on
 * the node that stays on its NUMA nodes; `partners`, those of its three main partners that are
 * there; and `why`. A line of several ranks has `local`, and says how many moved. At the end these
 * columns are explained, and there are the terms of the cost, the bound, the prices, the leader,
 * the NICs, and the source of the distances. */
char *nuioa_report_text(const struct nuioa_plan *plan, const struct nuioa_node *node,
                        const struct nuioa_options *options, bool explain);

/* Returns the masks for srun --cpu-bind=mask_cpu:..., by local rank: "0xc,0x3" and a newline. Bit N
 * is the CPU with OS index N. */
char *nuioa_report_cpu_bind(const struct nuioa_plan *plan);

#endif
