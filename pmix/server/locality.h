/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_SERVER_LOCALITY_H
#define NUIOA_PMIX_SERVER_LOCALITY_H

#include <pmix_common.h>
#include <stdbool.h>

#include "plan/plan.h"
#include "topology/node.h"

/* This header is private to pmix/server. It declares the values of PMIx's standard keys that say
 * where a rank is. PMIx makes them from an hwloc topology. Here they are made from the node's
 * description, because loading a topology takes longer than all else that is done here.
 *
 * The parameters: `node` is the description of this machine, `assignment` is where the plan puts
 * one rank, and a PU is a CPU of the kernel (a hardware thread). The functions keep no pointer to
 * them. */

/* Returns true if the rank is bound to less than the whole node. PMIx gives no locality to a rank
 * that is not: to say that it shares everything with every rank would be false. */
bool locality_is_bound(const struct nuioa_node *node, const struct nuioa_assignment *assignment);

/* Returns the value of PMIX_CPUSET, such as "hwloc:8-9", with the kernel's numbers (malloc'd,
 * caller frees); or NULL without memory. */
char *locality_cpuset(const struct nuioa_assignment *assignment);

/* Returns the cache levels that this machine has, as a mask: bit N is set if there is a level N.
 * They are read from sysfs: where a level is missing, the node's description has the next larger
 * unit instead, and this must not be published as a cache. */
unsigned locality_caches(const struct nuioa_node *node);

/* Returns the value of PMIX_LOCALITY_STRING, such as "SK1:L31:L28-9:CR8-9:HT8-9:NM1", with hwloc's
 * logical indexes (malloc'd, caller frees); or NULL without memory. `caches` is what
 * locality_caches returned for this node. */
char *locality_string(const struct nuioa_node *node, const struct nuioa_assignment *assignment,
                      unsigned caches);

/* Fills package_ranks[plan->task_count], which the caller allocated, by local rank, with the values
 * of PMIX_PACKAGE_RANK: the position, from 0, of a rank among the ranks of its package, in the
 * order of their local ranks. */
void locality_package_ranks(const struct nuioa_node *node, const struct nuioa_plan *plan,
                            uint16_t *package_ranks);

/* A device whose distances are published: a network port that can be used. A verbs device and its
 * netdev are two devices. */
struct locality_device {
    const struct nuioa_nic *nic; /* owned by the node's description */
    pmix_device_type_t type;
    char name[32], uuid[160]; /* as PMIx names devices */
};

struct locality_devices {
    unsigned count;
    struct locality_device *list;
};

/* Fills *devices with the ports of this node that tasks use or can use; those without an address in
 * sysfs, those whose NUMA node is unknown, and virtual ones are left out. *devices points into
 * `node`, which must outlive it. Returns 0, and the caller frees the list; or -ENOMEM, and it is
 * NULL. */
int locality_devices_find(const struct nuioa_node *node, const struct nuioa_plan *plan,
                          struct locality_devices *devices);

/* Fills distances[devices->count] with the smallest and the largest distance of the rank's PUs from
 * each device, and returns their number. Devices are left out that are near to none of the GPUs of
 * which the rank has some, if it is unknown which, and if the plan says so. The unit is that of the
 * node's distance matrix: 10 means that the PU is local to the device, and 11 that it is on the
 * same NUMA node but not local to the device. UINT16_MAX means that the distance of a PU is not
 * known. For a rank whose GPUs are known 10 means that the NIC is one of the rank's own, which are
 * chosen by its GPUs, and all others are farther: Open MPI 5 takes the device with the smallest
 * distance. The rank must have PUs. The caller allocated `distances`; the strings in it still
 * belong to `devices`. */
unsigned locality_distances(const struct nuioa_node *node,
                            const struct nuioa_assignment *assignment,
                            const struct locality_devices *devices,
                            pmix_device_distance_t *distances);

#endif
