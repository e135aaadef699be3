/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_SLOT_H
#define NUIOA_PLAN_SLOT_H

#include "plan/plan.h"
#include "plan/rail.h"

/* Slots: the sets of CPUs that tasks can be given, and what each costs. Private to the library.
 * Turns a machine into the numbers of mapping/mapping.h. */
struct nuioa_slots {
    uint32_t count;
    hwloc_bitmap_t *cpus; /* [count] */
    double *nic_cost;     /* [count] */
    uint32_t *tie;        /* [count] */
    uint32_t *kind;       /* [count]: equal for as many cores and PUs */
    uint32_t *domain;     /* [count]: slots that are at the same distance from all others */
    uint32_t domain_count;
    double *domain_cost; /* [domain_count * domain_count] */
};

/* All functions: 0 or negative (-ENOMEM; others said). Caller: nuioa_slots_free. */

/* Room for `count` slots without CPUs. */
int nuioa_slots_reserve(struct nuioa_slots *slots, uint32_t count);

/* The slots that Slurm made: slot i is task i's own mask. */
int nuioa_slots_keep(struct nuioa_slots *slots, const struct nuioa_request *request);

/* Fills nic_cost, tie, kind; with `pairs` also the domains. Anew, if the CPUs have changed. */
int nuioa_slots_price(struct nuioa_slots *slots, const struct nuioa_request *request,
                      const struct nuioa_rails *rails, bool pairs);

void nuioa_slots_free(struct nuioa_slots *slots);

/* dn of design: what one unit of traffic to the NIC costs at that level. Leaving the NIC's NUMA
 * node costs remote_cost (0.30: CASS 2011, 4.2; PDCS 2007, table 2), each further level hop_cost
 * (0.05: little on an idle machine, more on a loaded one; master thesis 2007, 2.5.2-2.5.3). */
double nuioa_nic_cost(const struct nuioa_options *options, uint32_t level);

/* What a slot's neighbour costs follow from, found once: there may be many pairs. */
struct nuioa_spot {
    hwloc_const_bitmap_t cpus; /* the caller's */
    const struct nuioa_pu *pu; /* the first of them, NULL: none */
    bool wide;                 /* they have several NUMA nodes */
};
struct nuioa_spot nuioa_spot_of(const struct nuioa_node *node, hwloc_const_bitmap_t cpus);

/* dp of design: what a byte between two sets of CPUs costs, 1.0 = within one NUMA node. Between
 * NUMA nodes the distance table / 10, mean of both directions; inside, by the deepest thing
 * shared. */
double nuioa_neighbour_cost(const struct nuioa_node *node, hwloc_const_bitmap_t a,
                            hwloc_const_bitmap_t b);

double nuioa_spot_cost(const struct nuioa_node *node, const struct nuioa_spot *a,
                       const struct nuioa_spot *b);

/* A PU of `cpus` (the first in logical order), NULL if there is none. */
const struct nuioa_pu *nuioa_first_pu(const struct nuioa_node *node, hwloc_const_bitmap_t cpus);

/* All of `cpus` have the NUMA node of `pu`, one of them. */
bool nuioa_in_one_numa(const struct nuioa_node *node, const struct nuioa_pu *pu,
                       hwloc_const_bitmap_t cpus);

#endif
