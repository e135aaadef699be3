/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_CXI_H
#define NUIOA_TOPOLOGY_CXI_H

#include <hwloc.h>
#include <stddef.h>

#include "util/sysfs.h"

/* A Slingshot card has two names: the network device, such as hsn0, by which nuioa names the NIC,
 * and the device that libfabric opens, such as cxi0. Their numbers need not agree.
 *
 * Writes the second name of the card whose network device is `netdev` to `name`, an array of `size`
 * bytes: that which the topology has beside the network device (hwloc 2.13 and later), else the
 * entry of sys/class/net/NETDEV/device/cxi. The text is empty if neither says it. */
void nuioa_cxi_name(hwloc_obj_t netdev, const struct nuioa_sysfs *sysfs, char *name, size_t size);

#endif
