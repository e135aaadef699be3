/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_H
#define NUIOA_OUTPUT_REPORT_H

#include "output/report_xml.h"
#include "plan/plan.h"

/* A node or a plan for a person or another program. All texts are malloc'd, the caller frees; NULL
 * without memory. Those for a person are plain ASCII, at most 100 columns. */

/* The table: a header, then node, rank, CPUs, NUMA node, NIC, level, weight, leader mark; last the
 * reason and the cost before and after. Above 64 ranks one line for all that share NUMA node and
 * NIC. With `explain` each rank has: `was`, its level where Slurm put it, if that was another; its
 * number by weight; how much of what it exchanges on the node stays on its NUMA node, and with
 * which of the three it exchanges most; and why. Then what the cost is made of and the bound, the
 * levels and who is where, the options, the NICs and where the distances come from. */
char *nuioa_report_text(const struct nuioa_plan *plan, const struct nuioa_node *node,
                        const struct nuioa_options *options, bool explain);

/* For srun --cpu-bind=mask_cpu:...: the masks by local rank, "0xc,0x3". */
char *nuioa_report_cpu_bind(const struct nuioa_plan *plan);

/* An Open MPI rankfile: "rank 4=host slot=2,3" by rank, OS ("physical") indexes. */
char *nuioa_report_rankfile(const struct nuioa_plan *plan, const struct nuioa_node *node);

#endif
