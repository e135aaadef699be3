/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NODE_LOAD_H
#define NUIOA_TOPOLOGY_NODE_LOAD_H

#include "topology/node.h"

/* Where a node's description comes from. All pointers may be NULL. */
struct nuioa_source {
    const char *topology;  /* an hwloc XML file, or the directory of an extracted sysfs dump;
                              NULL: this machine. hwloc learns of a directory only from environment
                              variables (HWLOC_FSROOT, HWLOC_COMPONENTS, HWLOC_DUMPED_HWDATA_DIR):
                              they are set while it loads and then as before, so directories are for
                              single-threaded programs */
    const char *distances; /* site distance file; a node without a section in it gets a warning */
};

/* Loads the description with hwloc: milliseconds here, seconds elsewhere; launches read the cache
 * instead. Fills *node (caller: nuioa_node_free). 0, or negative with *err set and *node empty. */
int nuioa_node_load(struct nuioa_node *node, const struct nuioa_source *source,
                    struct nuioa_error *err);

/* Reads the ports' state and rate again, two small files each, and judges their usability anew. A
 * device that is gone is down. Nothing on an emulated node. */
void nuioa_node_refresh(struct nuioa_node *node);

#endif
