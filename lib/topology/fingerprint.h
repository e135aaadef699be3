/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_FINGERPRINT_H
#define NUIOA_TOPOLOGY_FINGERPRINT_H

#include <stdint.h>

/* Returns a hash (util/hash.h) of the facts that the description of this node depends on: the
 * names, PCI addresses and NUMA nodes of the network devices, the PCI addresses and NUMA nodes of
 * the render nodes of GPUs, the CPUs and NUMA nodes that are online, and the variables that direct
 * hwloc. Virtual devices are left out, because they come and go with containers. It takes a few
 * small reads for each device. `root` is "" for this machine, or the directory of another sysfs in
 * tests. It cannot fail: a file that is not there counts as empty. */
uint64_t nuioa_fingerprint(const char *root);

#endif
