/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_GPU_DISCOVER_H
#define NUIOA_TOPOLOGY_GPU_DISCOVER_H

#include <hwloc.h>

#include "topology/node.h"

/* Sets node->gpus, which must be NULL, and node->gpu_count from the PCI devices of a loaded
 * topology, which stays the caller's. node->numas must be set. Returns 0, or -ENOMEM with *err;
 * nuioa_node_free frees the result in both cases. */
int nuioa_discover_gpus(struct nuioa_node *node, hwloc_topology_t topology,
                        struct nuioa_error *err);

#endif
