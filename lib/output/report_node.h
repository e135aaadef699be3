/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_NODE_H
#define NUIOA_OUTPUT_REPORT_NODE_H

#include <stdio.h>

#include "topology/node.h"

/* The report of a node, for people. */

/* Prints to `out` the part of it that a plan depends on: the NICs, and the source of the distances.
 * Errors of writing are not returned: the caller asks `out`. */
void report_facts(const struct nuioa_node *node, FILE *out);

/* Prints each of the warnings. */
void report_warnings(const struct nuioa_warnings *warnings, FILE *out);

/* Returns the whole report, a new text that the caller frees with free(): NUMA nodes, distances,
 * NICs, GPUs and their paths to the NICs (the first 8 that are not virtual), how distances and the
 * places of NICs are known, and warnings. Returns NULL if memory is short. */
char *nuioa_report_node(const struct nuioa_node *node);

#endif
