/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_NIC_PRINT_H
#define NUIOA_TOOL_PROBE_NIC_PRINT_H

#include <stdio.h>

struct nuioa_node;
struct probe_nics;

/* Prints what was measured of the NICs: a line for each NIC and NUMA node or GPU, why cells are
 * empty, what else ran, and what distance costs. Errors of writing are not returned. */
void probe_nics_print(const struct probe_nics *nics, FILE *out);

/* Prints the same as JSON (doc/formats.md) to stdout. Returns the exit status (tool.h). */
int probe_nics_json(const struct probe_nics *nics);

/* Prints a line if some NUMA nodes may not be used, since the job has only a part of the node. */
void probe_nics_print_left_out(const struct nuioa_node *node, FILE *out);

/* Prints a line if something else ran on this node meanwhile. */
void probe_nics_print_load(const struct probe_nics *nics, FILE *out);

#endif
