/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLANNER_H
#define NUIOA_PLAN_PLANNER_H

#include "plan/plan.h"
#include "plan/rail.h"

/* A plan in the making: what a decision needs besides the request. Private to the library. */
struct planner {
    const struct nuioa_request *request;
    struct nuioa_plan *plan;
    struct nuioa_rails rails;
    hwloc_bitmap_t allowed_cpus;
    hwloc_bitmap_t allowed_numas;
    uint32_t *slot_of; /* [task_count] */
    bool balanced;     /* ranks were swapped so that NICs share the load */
};

/* Sets the CPUs of every place, the mapping and the reason. 0 or negative. */
int nuioa_plan_decide(struct planner *planner);

/* Fills in everything that follows from where the ranks run: NUMA nodes, NIC, level, memory, OMP
 * places, leaders. 0 or negative. */
int nuioa_plan_derive(struct planner *planner);

/* Fills in what each rank's place costs, before and after: J of design as nuioa_map counts it, but
 * of where the ranks were and are. 0 or -ENOMEM. */
int nuioa_plan_costs(struct planner *planner);

/* Frees a place's OMP places. */
void nuioa_assignment_drop_places(struct nuioa_assignment *assignment);

/* All ranks may use the same CPUs, which is as good as not bound. A single rank is not bound if it
 * may use all that the step has. */
bool nuioa_unbound(const struct planner *planner);

#endif
