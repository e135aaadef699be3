/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_PCI_PATH_DISCOVER_H
#define NUIOA_TOPOLOGY_PCI_PATH_DISCOVER_H

#include <hwloc.h>

#include "topology/node.h"

/* Sets node->paths, which must be NULL, from the bridges of a loaded topology, which stays the
 * caller's. node->gpus and node->nics must be set. A bridge between PCI buses is a port of a switch
 * or of the processor; a switch has one upstream port, and below it a downstream port for each
 * device. The first rule that applies decides (enum nuioa_path in pci_path.h):
 *
 *   PIX   functions of one PCI device, or there is a bridge above both, and between it and each of
 *         them is at most one bridge more
 *   PXB   there is a bridge above both
 *   PHB   there is a host bridge above both
 *   NODE  they have a local NUMA node or local CPUs in common
 *   SYS   the local NUMA nodes of both are known
 *
 * Otherwise the path is unknown. node->paths stays NULL if there is no GPU or no NIC. Returns 0, or
 * -ENOMEM with *err; nuioa_node_free frees the result. */
int nuioa_discover_paths(struct nuioa_node *node, hwloc_topology_t topology,
                         struct nuioa_error *err);

#endif
