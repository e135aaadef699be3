/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLANNER_H
#define NUIOA_PLAN_PLANNER_H

#include "plan/plan.h"
#include "plan/rail.h"

/* The state while a plan is made: the request, the plan, and what the steps of planning share.
 * Private to the library. */
struct planner {
    const struct nuioa_request *request;
    struct nuioa_plan *plan;
    struct nuioa_rails rails;
    hwloc_bitmap_t allowed_cpus;  /* the CPUs that the step may use */
    hwloc_bitmap_t allowed_numas; /* the NUMA nodes whose memory the step may use */
    uint32_t *slot_of;            /* [task_count]: the slot of each task */
    bool balanced;                /* ranks were swapped so that the NICs share the load */
};

/* Fills *planner; finds the rails, and adds their warnings to the plan. 0 or negative with *err. In
 * both cases the caller frees it with nuioa_planner_free. */
int nuioa_planner_init(struct planner *planner, const struct nuioa_request *request,
                       struct nuioa_plan *plan, struct nuioa_error *err);
void nuioa_planner_free(struct planner *planner);

/* Returns true if Slurm bound no rank: if several ranks all have the same CPUs, or if a single rank
 * has all CPUs of the step. */
bool nuioa_unbound(const struct planner *planner);

#endif
