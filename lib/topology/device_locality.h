/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_DEVICE_LOCALITY_H
#define NUIOA_TOPOLOGY_DEVICE_LOCALITY_H

#include <hwloc.h>

#include "topology/node.h"

/* Sets *numas and *cpus (OS indexes) to the NUMA nodes and CPUs that are local to a device. They
 * are those of the closest hwloc object above it that is not an I/O object: NUIOA_LOCALITY_HWLOC.
 * If that object has no NUMA node, or is the whole machine and several NUMA nodes have CPUs, they
 * are those of `own`, the device's numa_node in sysfs (-1: none): NUIOA_LOCALITY_SYSFS. If the node
 * has no such NUMA node, or NUMA nodes are cut, both are empty: NUIOA_LOCALITY_UNKNOWN. Returns
 * which of these it is; or -ENOMEM, and a set may then be NULL. In every case the caller frees both
 * with hwloc_bitmap_free, which takes NULL. */
int nuioa_device_locality(const struct nuioa_node *node, hwloc_topology_t topology,
                          hwloc_obj_t device, long own, hwloc_bitmap_t *numas,
                          hwloc_bitmap_t *cpus);

/* Compares two addresses by PCI order, as strcmp does: one with a longer domain is higher, others
 * sort as text. */
int nuioa_device_pci_order(const char *a, const char *b);

/* Returns true if two PCI functions are of one device. */
bool nuioa_device_is_same(hwloc_obj_t a, hwloc_obj_t b);

/* Writes the address of a PCI device, such as "0000:41:00.0", to `text`, an array of `size` bytes
 * (24 are enough; a longer text is cut). */
void nuioa_device_pci_name(hwloc_obj_t pci, char *text, size_t size);

/* Returns the card of the NIC node->nics[index], whose PCI function is `pci` (NULL: none). It is
 * that of an earlier NIC, which has its `card` and `pci` already, if they share a PCI device, and
 * so a bus; or if they are the halves of a Socket Direct card, a PCI device on each socket, and so
 * share a port. Else it is `index`. If each half has two ports, each can carry one, and they are
 * two cards. */
uint32_t nuioa_device_card(const struct nuioa_node *node, hwloc_topology_t topology,
                           hwloc_obj_t pci, uint32_t index);

/* Returns true if HWLOC_PCI_LOCALITY, which hwloc reads, says where the device is. `pci` may be
 * NULL. */
bool nuioa_device_is_overridden(hwloc_obj_t pci);

#endif
