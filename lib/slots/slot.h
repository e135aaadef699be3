/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_SLOT_H
#define NUIOA_SLOTS_SLOT_H

#include "slots/basis.h"

/* Slots are the sets of CPUs that tasks can be given, and their costs. They turn a machine into the
 * numbers of mapping/problem.h. A slot is named by its index. The arrays and sets belong to the
 * arena of the basis. Private to the library. */
struct nuioa_slots {
    uint32_t count;
    hwloc_bitmap_t *cpus; /* [count]: OS indexes */
    double *nic_cost;     /* [count]: nuioa_rails_price */
    uint32_t *tie;        /* [count]: nuioa_rails_tie */
    uint32_t *kind;       /* [count]: equal for slots with as many cores and as many PUs */
    /* [count]: slots of one domain have equal costs to every other slot */
    uint32_t *domain;
    uint32_t domain_count;
    double *domain_cost; /* [domain_count * domain_count]: cost of a byte between two slots */
};

/* Makes the slots that Slurm chose: slot i has a copy of the CPUs of task i. There is room for
 * `more` slots behind them. *slots is overwritten, and not priced yet. Returns 0 or -ENOMEM. */
int nuioa_slots_keep(struct nuioa_slots *slots, const struct nuioa_basis *basis, uint32_t more);

/* Prices the slots: computes nic_cost, tie and kind from their CPUs, and if the request has pairs
 * also the domains and their costs. Call it again after the CPUs have changed. Returns 0; or, only
 * with pairs, -ENOMEM, and the domains are then undefined. */
int nuioa_slots_price(struct nuioa_slots *slots, const struct nuioa_basis *basis);

/* Changes the kind of those of the first `count` slots that have the same CPUs, as with
 * --cpu-bind=sockets: such slots are alike only if also the part of each of their tasks is equal,
 * in whole CPUs. So no task has fewer CPUs elsewhere, in its mask or to itself. Call it once after
 * the slots are priced. */
void nuioa_slots_find_parts(struct nuioa_slots *slots, uint32_t count);

/* Changes slot_of[task_count], a mapping, so that no task moves without a gain: task i gets slot i,
 * its own, if the one that it has is interchangeable with it. Slots are interchangeable if their
 * prices, ties, domains and kinds are equal, and near[slot], the NICs near each
 * (mapping/problem.h), if that is not NULL. Returns 0; or -ENOMEM, and nothing is changed. */
int nuioa_slots_keep_equal(const struct nuioa_slots *slots, const struct nuioa_basis *basis,
                           const uint64_t *near, uint32_t *slot_of);

/* The facts about a set of CPUs that neighbour costs depend on. They are found once for each set,
 * because there may be many pairs. */
struct nuioa_location {
    hwloc_const_bitmap_t cpus; /* OS indexes; the caller's bitmap, which must outlive this */
    const struct nuioa_pu *pu; /* the first PU of `cpus`, in the node; NULL if there is none */
    bool wide;                 /* `cpus` span several NUMA nodes; false if these are unknown */
};

/* Returns the location of `cpus`. It points to `cpus` and into `node`, and needs no free. */
struct nuioa_location nuioa_location_of(const struct nuioa_node *node, hwloc_const_bitmap_t cpus);

/* Returns the cost of one byte between the CPUs of two locations, a number without unit; 1.0 is the
 * cost within one NUMA node. Between NUMA nodes it is the mean of both directions in the distance
 * table, divided by 10; if a set spans several NUMA nodes, the mean over all pairs of them. Inside
 * one NUMA node it is 0.4, 0.6 or 0.8 if the smallest unit that both share is a core, an L2 or an
 * L3, and 1.2 between two packages: these four are assumed, not measured. It is 1.0 where a
 * distance is unknown. */
double nuioa_location_cost(const struct nuioa_node *node, const struct nuioa_location *a,
                           const struct nuioa_location *b);

/* Returns true if two sets of CPUs (OS indexes) are on the same NUMA nodes. Sets *meet to whether
 * they have any of these in common. */
bool nuioa_same_numas(const struct nuioa_node *node, hwloc_const_bitmap_t a, hwloc_const_bitmap_t b,
                      bool *meet);

/* Returns the first PU of `cpus` (OS indexes) in logical order, a pointer into the node; or NULL if
 * there is none. */
const struct nuioa_pu *nuioa_first_pu(const struct nuioa_node *node, hwloc_const_bitmap_t cpus);

#endif
