/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_H
#define NUIOA_OUTPUT_REPORT_H

#include <stdio.h>

#include "plan/plan.h"
#include "topology/node_load.h"

/* --- the lines before and after the table ---
 *
 * They are those of srun's report of a whole job, too. Errors of writing are not returned: the
 * caller asks `out`. */

/* These figures are of all ranks of a report. */
struct nuioa_report_totals {
    const char *host; /* the name of the only node, "" if it has none; NULL: several nodes */
    uint32_t nodes;
    uint64_t ranks, moved;
    enum nuioa_policy policy;
    bool planned;         /* the ranks were not bound */
    bool leads;           /* some node has a leader */
    double before, after; /* J (mapping/problem.h) with Slurm's masks; now. < 0: unknown */
    double bound;         /* of J among Slurm's masks; < 0: unknown */
};

/* Returns what is said of all ranks of the plan. The name of the host is that of `node`. */
struct nuioa_report_totals nuioa_report_totals(const struct nuioa_plan *plan,
                                               const struct nuioa_node *node);

/* Prints the first line of a report; without ranks it says that no node has a plan. A line of more
 * than 100 columns goes on in the next. */
void nuioa_report_head(const struct nuioa_report_totals *totals, FILE *out);

/* Prints the line of the cost, if it is known and not 0. */
void nuioa_report_cost(const struct nuioa_report_totals *totals, FILE *out);

/* --- the whole report ---
 *
 * Reports of a plan, for people, and masks for srun. All functions only read their input, and
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

/* Writes the topology that `source` names as hwloc XML to the file `path`. Annotations make `lstopo
 * -i FILE` draw the ranks in their CPUs, coloured by weight, mark the leader and the chosen NICs,
 * and say beside each GPU which NICs are nearest to it. `plan` and `node` belong together; nothing
 * of them is changed. Returns 0; or with *err -EINVAL if the topology lacks CPUs of a rank,
 * -ENOMEM, or what nuioa_hwloc_open (whose limit of one thread holds here, too) or
 * nuioa_new_file_open and _close return. */
int nuioa_report_xml(const struct nuioa_plan *plan, const struct nuioa_node *node,
                     const struct nuioa_source *source, const char *path, struct nuioa_error *err);

#endif
