/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_DISTANCES_H
#define NUIOA_TOOL_PROBE_DISTANCES_H

struct probe;

/* Sets probe->measured: the distances between all NUMA nodes of probe->node for the site's file, on
 * the scale of a SLIT (10 is local), and their levels. Values come from the graph of links, which is
 * accepted; for a NUMA node without CPUs or without memory, from what was measured, in the other
 * direction if need be; and where nothing was, from probe->node. Returns 0 or -ENOMEM. */
int probe_distances(struct probe *probe);

#endif
