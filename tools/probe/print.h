/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_PRINT_H
#define NUIOA_TOOL_PROBE_PRINT_H

#include <jansson.h>

struct probe;
struct probe_cost;

/* These functions only read *probe, and print to stdout. */

/* Prints the latencies and, if there are any, the costs. If the graph is accepted, it also prints
 * the links, and if asked for the comparison with the firmware's distances, and which file was
 * written. */
void probe_print(const struct probe *probe);

/* Prints the costs that were computed, as arguments for plugstack.conf. */
void probe_print_cost(const struct probe_cost *cost);

/* Returns all of it as JSON (doc/formats.md); NULL if memory is short. */
json_t *probe_json(const struct probe *probe);

#endif
