/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_DISTANCES_H
#define NUIOA_TOOL_PROBE_DISTANCES_H

#include <stdint.h>

struct probe;

/* Returns the matrix of distances between all NUMA nodes of probe->node for the site's file, a new
 * array [numa_count * numa_count], row-major, on the scale of a SLIT (10 is local). Its values come
 * from the graph of links; for a NUMA node without CPUs or without memory, from what was measured,
 * in the other direction if need be; and where nothing was, from probe->node. The caller frees it
 * with free(). Returns NULL if memory is short. */
uint32_t *probe_distances(const struct probe *probe);

#endif
