/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_DISCOVER_H
#define NUIOA_TOPOLOGY_NIC_DISCOVER_H

#include <hwloc.h>
#include <stdbool.h>

#include "topology/node.h"
#include "util/sysfs.h"

/* Sets node->nics and node->nic_count, which must be NULL and 0, from the I/O objects of a loaded
 * topology and from sysfs, which both stay the caller's. Not set are `subnet`, `doubts`, `role`,
 * `role_source`, `usable`, `why`, `level` and `measured`. node->numas must be set.
 * `native` is true if hwloc has read the devices itself, not from an XML file: HWLOC_PCI_LOCALITY
 * has then had its effect. Returns 0, or -ENOMEM with *err; nuioa_node_free frees the result in
 * both cases. */
int nuioa_discover_nics(struct nuioa_node *node, hwloc_topology_t topology,
                        const struct nuioa_sysfs *sysfs, bool native, struct nuioa_error *err);

#endif
