/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_FINGERPRINT_H
#define NUIOA_TOPOLOGY_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* Private: numbers that differ when something else does. Not against forgery. */

/* Of `bytes`, continuing `seed` (0 to begin). */
uint64_t nuioa_hash(uint64_t seed, const void *bytes, size_t length);

/* Of what the description of this node rests on, in a few small reads per network device: their
 * names, places and NUMA nodes (virtual ones, which come and go with containers, left out), which
 * CPUs and NUMA nodes are online, and the variables that direct hwloc. `root`: "", or where another
 * sysfs is (tests). */
uint64_t nuioa_fingerprint(const char *root);

#endif
