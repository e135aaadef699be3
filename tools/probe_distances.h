/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_DISTANCES_H
#define NUIOA_TOOL_PROBE_DISTANCES_H

#include <stdint.h>

struct probe;

/* Returns the matrix of all NUMA nodes of probe->node for the site's file, [numa_count *
 * numa_count]. Its values come from the graph of links; for a NUMA node without CPUs or without
 * memory, from what was measured in the other direction. The caller frees it. NULL: no memory. */
uint32_t *probe_distances(const struct probe *probe);

#endif
