/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_GPU_DISCOVER_H
#define NUIOA_TOPOLOGY_GPU_DISCOVER_H

#include <hwloc.h>

#include "topology/node.h"
#include "util/sysfs.h"

/* Sets node->gpus, which must be NULL, and node->gpu_count from the PCI devices of a loaded
 * topology and from the machine's `sysfs`, which both stay the caller's. node->numas must be set.
 *
 * A GPU is a display of NVIDIA, an accelerator of AMD, a display of AMD or Intel that is more than
 * plain VGA, or any display that has a render node, in sysfs or in the topology. The display of a
 * management processor (BMC) and the graphics inside a processor of Intel are none. Neither is a
 * display of class VGA on a node with a GPU of another model and class: the screen is on it. The
 * instances into which a GPU is divided (MIG) are no devices of their own.
 *
 * Returns 0, or -ENOMEM with *err; nuioa_node_free frees the result in both cases. */
int nuioa_discover_gpus(struct nuioa_node *node, hwloc_topology_t topology,
                        const struct nuioa_sysfs *sysfs, struct nuioa_error *err);

#endif
