/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLANNER_H
#define NUIOA_PLAN_PLANNER_H

#include "plan/plan.h"
#include "slots/basis.h"

/* The state while a plan is made: what the steps of planning read, and what they write. Private to
 * the library. */
struct planner {
    struct nuioa_basis basis;
    struct nuioa_plan *plan;  /* the caller's */
    struct nuioa_arena arena; /* of arrays that are needed only while the plan is made */
    uint32_t *slot_of; /* [task_count]: the slot (slots/slot.h) of each task, at first its own */
    bool acts;         /* ranks are bound: with mode on, unless that has failed */
};

/* Makes `why` the reason of the plan, with its sentence. */
void nuioa_planner_say(struct planner *planner, enum nuioa_reason why);

#endif
