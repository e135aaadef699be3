/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_HINT_H
#define NUIOA_TOPOLOGY_NIC_HINT_H

#include <hwloc.h>

#include "topology/node.h"

/* Sets `hints` of each NIC, which the guess of its role (topology/nic_guess.h) is from, on a
 * node with GPUs; elsewhere there are none. BlueFields are found in `topology`. The
 * rest is from files below `root` ("" for this machine, the directory of a dump, or NULL for a
 * machine of which there are no files), and IPv4 only: which NICs have the default route, the route
 * to the server of a file system that is mounted, and the address of the host's name. They are
 * proc/net/route, proc/self/mounts and etc/hosts. It cannot fail: what is not known is no hint. */
void nuioa_nic_hints_read(struct nuioa_node *node, hwloc_topology_t topology, const char *root);

#endif
