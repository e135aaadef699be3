/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_PRINT_H
#define NUIOA_TOOL_PROBE_PRINT_H

#include <stdio.h>

struct probe;
struct probe_cost;

/* Prints the latencies, the links and the distances. */
void probe_print(const struct probe *probe, FILE *out);

/* Prints the costs that were computed, as arguments for plugstack.conf. */
void probe_print_cost(const struct probe_cost *cost, FILE *out);

/* Prints in what the firmware's table differs from the measurement. */
void probe_print_check(const struct probe *probe, FILE *out);

/* Prints all of it as JSON to stdout. Returns the exit status. */
int probe_json(const struct probe *probe);

#endif
