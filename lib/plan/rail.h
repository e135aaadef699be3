/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_RAIL_H
#define NUIOA_PLAN_RAIL_H

#include "plan/plan.h"

/* Rails: the NICs that a plan may use. Private to the library.
 *
 * Traffic between nodes stays on one fabric, so all rails are of one fabric: the fastest of those
 * that the `nic` option selects. */
struct nuioa_rails {
    unsigned count;
    uint32_t *nic; /* [count]: index into node->nics */
    bool located;  /* the NUMA nodes of the rails are known; else there are no levels */
    unsigned numa_count;
    uint8_t *level; /* [count * numa_count]: from the rail to each entry of node->numas */
    uint32_t cpu_count;
    int32_t *numa_of; /* [cpu_count]: by OS index, the PU's index into node->numas, or -1 */
};

/* Finds the rails of a node, and warns about NICs that are left out. Without any NIC it returns 0,
 * and count is 0. 0, and the caller frees *rails with nuioa_rails_free; or negative with *err, and
 * *rails is empty. */
int nuioa_rails_init(struct nuioa_rails *rails, const struct nuioa_node *node,
                     const struct nuioa_options *options, struct nuioa_warnings *warnings,
                     struct nuioa_error *err);
void nuioa_rails_free(struct nuioa_rails *rails);

/* Returns the level from one rail to the farthest NUMA node of `cpus`, because data may be on each
 * of them. A CPU without a NUMA node counts as the farthest. NUIOA_NO_LEVEL if the rails are not
 * located. */
uint32_t nuioa_rail_level(const struct nuioa_rails *rails, unsigned rail,
                          hwloc_const_bitmap_t cpus);

/* Returns the level from the nearest rail; NUIOA_NO_LEVEL if there is none or it is unknown. */
uint32_t nuioa_rails_nearest(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus);

/* Returns 0 if all of `cpus` are among those that some rail is attached to (for example one L3 of a
 * NUMA node), else 1. Of CPUs at the same level, those with 0 are nearer. */
uint32_t nuioa_rails_tie(const struct nuioa_rails *rails, const struct nuioa_node *node,
                         hwloc_const_bitmap_t cpus);

/* Sets near[rail] for each rail to whether it is one of the nearest to `cpus`. The caller allocates
 * near[count]. Returns how many are. */
unsigned nuioa_rails_near(const struct nuioa_rails *rails, const struct nuioa_node *node,
                          hwloc_const_bitmap_t cpus, bool *near);

/* Sets `nic` and `level` of every assignment. A rank gets the rail nearest to its GPU, or to its
 * CPUs if it has no GPU. Of equally near rails it gets the one whose card has the least load for
 * its rate, then the first in PCI order. Ranks with the fewest equally near rails choose first,
 * then heavier ones. 0 or -ENOMEM. */
int nuioa_rails_assign(const struct nuioa_rails *rails, const struct nuioa_request *request,
                       struct nuioa_assignment *assignments);

#endif
