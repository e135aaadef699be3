/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NODE_LOAD_H
#define NUIOA_TOPOLOGY_NODE_LOAD_H

#include "topology/node.h"

/* The source of the description of a node. All pointers may be NULL; the texts are the caller's. */
struct nuioa_source {
    const char *topology;  /* an hwloc XML file, or the directory of an extracted sysfs dump;
                              NULL: this machine. With either, environment variables direct
                              hwloc during the load (HWLOC_HIDE_ERRORS; HWLOC_FSROOT,
                              HWLOC_COMPONENTS, HWLOC_DUMPED_HWDATA_DIR), so that the process
                              must have one thread. */
    const char *distances; /* distance file of the site; if it cannot be used, or has no section
                              for this node, that is a warning of the node */
};

/* Loads the description of a node with hwloc, which takes from milliseconds to seconds: launches
 * read the cache instead. `source` may be NULL for this machine. Returns 0, and the caller frees
 * *node with nuioa_node_free; or a negative errno with *err, and *node is empty: -ENOMEM, -ENODATA
 * if the topology has no processors or no memory, -EINVAL if hwloc cannot load it, or the errno of
 * stat(2) of its path. */
int nuioa_node_load(struct nuioa_node *node, const struct nuioa_source *source,
                    struct nuioa_error *err);

/* Reads the state and rate of all ports of a node again (two small files each) and judges the NICs
 * anew (nuioa_nic_judge). A device that no longer exists is down. It does nothing to an emulated
 * node, and cannot fail. */
void nuioa_node_refresh(struct nuioa_node *node);

#endif
