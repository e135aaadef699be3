/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_FINGERPRINT_H
#define NUIOA_TOPOLOGY_FINGERPRINT_H

#include <stdint.h>

/* Of what the description of this node rests on, in a few small reads per network device: their
 * names, places and NUMA nodes (virtual ones, which come and go with containers, left out), which
 * CPUs and NUMA nodes are online, and the variables that direct hwloc. `root`: "", or where another
 * sysfs is (tests). */
uint64_t nuioa_fingerprint(const char *root);

#endif
