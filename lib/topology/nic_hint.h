/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_HINT_H
#define NUIOA_TOPOLOGY_NIC_HINT_H

#include <hwloc.h>

#include "topology/node.h"

/* Sets `hints` of each NIC, which the guess of its role (topology/nic_guess.h) is from, on a node
 * with GPUs: whether `topology` has it as a BlueField. Elsewhere there are none. It cannot fail. */
void nuioa_nic_hints_read(struct nuioa_node *node, hwloc_topology_t topology);

#endif
