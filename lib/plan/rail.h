/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_RAIL_H
#define NUIOA_PLAN_RAIL_H

#include "plan/plan.h"

/* The NICs that a plan may use: rails of one fabric. Private to the library.
 *
 * Traffic between nodes stays on one fabric, so NICs of several are never shared: of those that the
 * `nic` option takes, the fastest fabric is used. */
struct nuioa_rails {
    unsigned count;
    uint32_t *nic; /* [count]: index into node->nics */
    bool located;  /* their NUMA nodes are known; else levels are not */
    unsigned numa_count;
    uint8_t *level; /* [count * numa_count]: from the rail to each entry of node->numas */
    uint32_t cpu_count;
    int32_t *numa_of; /* [cpu_count]: by OS index, the PU's entry in node->numas, or -1 */
};

/* 0 or negative with *err. No NIC at all is count = 0. Caller: nuioa_rails_free. */
int nuioa_rails_init(struct nuioa_rails *rails, const struct nuioa_node *node,
                     const struct nuioa_options *options, struct nuioa_warnings *warnings,
                     struct nuioa_error *err);
void nuioa_rails_free(struct nuioa_rails *rails);

/* From one rail to a slot: the level of the slot's worst NUMA node (data lands all over it). CPUs
 * without a NUMA node of their own are as far as the farthest. NUIOA_NO_LEVEL if not located. */
uint32_t nuioa_rail_level(const struct nuioa_rails *rails, unsigned rail,
                          hwloc_const_bitmap_t cpus);

/* From the nearest rail. */
uint32_t nuioa_rails_nearest(const struct nuioa_rails *rails, hwloc_const_bitmap_t cpus);

/* 0 if the CPUs are those that some rail is attached to (an L3 of a NUMA node, say), else 1. */
uint32_t nuioa_rails_tie(const struct nuioa_rails *rails, const struct nuioa_node *node,
                         hwloc_const_bitmap_t cpus);

/* Marks the rails that ranks on these CPUs would choose among; near[count]. Returns how many. */
unsigned nuioa_rails_near(const struct nuioa_rails *rails, const struct nuioa_node *node,
                          hwloc_const_bitmap_t cpus, bool *near);

/* Gives each place its NIC and level: the nearest, or its GPU's; among equally near ones the card
 * with the least load for its rate, then PCI order. Ranks without a choice come first, then heavier
 * ones. 0 or -ENOMEM. */
int nuioa_rails_assign(const struct nuioa_rails *rails, const struct nuioa_request *request,
                       struct nuioa_assignment *assignments);

#endif
