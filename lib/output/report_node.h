/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_NODE_H
#define NUIOA_OUTPUT_REPORT_NODE_H

#include <stdio.h>

#include "topology/node.h"

/* NICs and where distances come from: of nuioa_report_node, what a plan follows from. */
void report_facts(const struct nuioa_node *node, FILE *out);

/* What a node is: NUMA nodes, distances, NICs, where each fact comes from, warnings. */
char *nuioa_report_node(const struct nuioa_node *node);

#endif
