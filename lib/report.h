#ifndef NUIOA_REPORT_H
#define NUIOA_REPORT_H

#include "plan.h"

/* A node or a plan for a person or another program. All texts are malloc'd, the caller frees; NULL
 * without memory. Those for a person are plain ASCII, at most 100 columns. */

/* What a node is: NUMA nodes, distances, NICs, where each fact comes from, warnings. */
char *nuioa_report_node(const struct nuioa_node *node);

/* The table: a header, then node, rank, CPUs, NUMA node, NIC, level, weight, leader mark; last the
 * reason and the cost before and after. Above 64 ranks one line for all that share NUMA node and
 * NIC. With `explain`, also the levels and who is where, the options, and the node as
 * nuioa_report_node has it. */
char *nuioa_report_text(const struct nuioa_plan *plan, const struct nuioa_node *node,
                        const struct nuioa_options *options, bool explain);

/* For srun --cpu-bind=mask_cpu:...: the masks by local rank, "0xc,0x3". */
char *nuioa_report_cpu_bind(const struct nuioa_plan *plan);

/* An Open MPI rankfile: "rank 4=host slot=2,3" by rank, OS ("physical") indexes. */
char *nuioa_report_rankfile(const struct nuioa_plan *plan, const struct nuioa_node *node);

/* Writes the topology that `source` names, annotated so that `lstopo -i FILE` draws the ranks
 * coloured by weight in their CPUs, leaders and chosen NICs marked. 0 or negative with *err. */
int nuioa_report_xml(const struct nuioa_plan *plan, const struct nuioa_node *node,
                     const struct nuioa_source *source, const char *path,
                     struct nuioa_error *err);

#endif
