/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLANNER_H
#define NUIOA_PLAN_PLANNER_H

#include "plan/plan.h"
#include "slots/basis.h"

/* The steps in which a plan is made, and the state that they read and write. Private to the
 * library. */
struct planner {
    struct nuioa_basis basis;
    struct nuioa_plan *plan;  /* the caller's */
    struct nuioa_arena arena; /* basis.arena */
    uint32_t *slot_of; /* [task_count]: the slot (slots/slot.h) of each task, at first its own */
    bool acts;         /* ranks are bound: with mode on, unless that has failed */
};

/* The first step chooses on which CPUs each rank runs. It reads planner->basis, and sets in
 * planner->plan the CPUs of every assignment and its part of J, J before and after, the mapper, its
 * work and bound, and the reason; and may add warnings. It also changes planner->slot_of. Returns
 * 0; -ENOMEM; or -ETIME if the thread's processor time is past request->cpu_until_us. After an
 * error some CPUs may have been set. */
int nuioa_plan_choose(struct planner *planner);

/* The second step derives everything that follows from plan->usable and the CPUs of every
 * assignment: its rank, weight, `moved`, NUMA nodes, NICs, GPUs, path, levels, memory, OMP places
 * and the rest of its costs; and of the plan `moved`, `advice`, `binds_threads`, `gpus_left` and
 * the leaders. It may be called again after CPUs have changed. Returns 0; or -ENOMEM, and some of
 * these may be unset. */
int nuioa_plan_derive(struct planner *planner);

#endif
