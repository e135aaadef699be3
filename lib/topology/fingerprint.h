/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_FINGERPRINT_H
#define NUIOA_TOPOLOGY_FINGERPRINT_H

#include <stdint.h>

/* Returns a hash (util/hash.h) of the facts that the description of this node depends on:
 *
 *   - network and verbs devices: name, place in sysfs, and the NUMA nodes that sysfs gives for the
 *     PCI device and for those above it;
 *   - render nodes of GPUs: the same, without the name;
 *   - the CPUs and NUMA nodes that are online;
 *   - the variables HWLOC_* of this process, without HWLOC_HIDE_ERRORS.
 *
 * Virtual devices are left out, because they come and go with containers. So are GPUs without a
 * render node. It takes a few small reads for each device. `root` is "" for this machine, or the
 * directory of another sysfs in tests. It cannot fail: a file that is not there counts as empty. */
uint64_t nuioa_fingerprint(const char *root);

#endif
