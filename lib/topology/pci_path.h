/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_PCI_PATH_H
#define NUIOA_TOPOLOGY_PCI_PATH_H

#include <hwloc.h>

#include "topology/node.h"

/* The path between a GPU and a NIC, in the classes of `nvidia-smi topo -m`, the shortest first. */
enum nuioa_path {
    NUIOA_PATH_UNKNOWN, /* the place of the GPU or of the NIC in the PCIe tree is unknown */
    NUIOA_PATH_PIX,     /* both are behind one PCIe switch */
    NUIOA_PATH_PXB,     /* several PCIe switches lie between them, but no host bridge */
    NUIOA_PATH_PHB,     /* both are behind one host bridge, on different root ports */
    NUIOA_PATH_NODE,    /* both are on one NUMA node, behind different host bridges */
    NUIOA_PATH_SYS,     /* they are on different NUMA nodes */
    NUIOA_PATHS
};

/* Returns the path between a GPU and a NIC, which are indexes into node->gpus and node->nics. */
enum nuioa_path nuioa_path_at(const struct nuioa_node *node, uint32_t gpu, uint32_t nic);

/* Returns true if path `a` is shorter than path `b`. An unknown path is longer than every known
 * one. */
bool nuioa_path_shorter(enum nuioa_path a, enum nuioa_path b);

/* Returns "PIX", "PXB", "PHB", "NODE" or "SYS"; NULL for an unknown path. The text is constant. */
const char *nuioa_path_name(enum nuioa_path path);

/* Sets node->paths, which must be NULL, from the bridges of a loaded topology, which stays the
 * caller's. node->gpus and node->nics must be set. A bridge between PCI buses is a port of a switch
 * or of the processor; a switch has one upstream port, and below it a downstream port for each
 * device. The first rule that applies decides:
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
