/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_SERVER_LOCALITY_H
#define NUIOA_PMIX_SERVER_LOCALITY_H

#include <pmix_common.h>
#include <stdbool.h>

#include "plan/plan.h"
#include "topology/node.h"

/* Private: the standard keys that say where a rank is, as PMIx makes them from an hwloc topology,
 * but from the node's description: loading a topology takes a launch longer than everything else
 * here. */

/* Bound to less than the node: PMIx gives no locality to others, and "shares all with all" would be
 * false. */
bool locality_is_bound(const struct nuioa_node *node, const struct nuioa_assignment *assignment);

/* "hwloc:8-9". malloc'd; NULL without memory. */
char *locality_cpuset(const struct nuioa_assignment *assignment);

/* Caches that this machine has: bit N for level N. The node's description fills gaps with the next
 * larger unit, which must not be told to others as a cache. */
unsigned locality_caches(const struct nuioa_node *node);

/* "SK1:L31:L28-9:CR8-9:HT8-9:NM1": hwloc's logical indexes. malloc'd; NULL without memory. */
char *locality_string(const struct nuioa_node *node, const struct nuioa_assignment *assignment,
                      unsigned caches);

/* Index into the plan's order of local ranks among those on the same package. */
void locality_package_ranks(const struct nuioa_node *node, const struct nuioa_plan *plan,
                            uint16_t *package_ranks);

/* Devices whose distances are told: the network ports that can be used, each as PMIx names it, the
 * verbs device and its netdev apart. malloc'd strings. */
struct locality_device {
    const struct nuioa_nic *nic;
    char *uuid, *name;
    pmix_device_type_t type;
};

struct locality_devices {
    unsigned count;
    struct locality_device *list;
};

/* 0 or -ENOMEM; free it in either case. Devices without an address are left out. */
int locality_devices_find(const struct nuioa_node *node, const struct nuioa_plan *plan,
                          struct locality_devices *devices);
void locality_devices_free(struct locality_devices *devices);

/* Distances of a rank's CPUs from each device, on the scale of the node's matrix (10 = same NUMA
 * node; one more for CPUs of that NUMA node which are not the device's own), least and largest.
 * `distances` has room for devices->count; its strings belong to `devices`. */
void locality_distances(const struct nuioa_node *node, const struct nuioa_assignment *assignment,
                        const struct locality_devices *devices, pmix_device_distance_t *distances);

#endif
