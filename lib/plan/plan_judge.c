/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_judge.h"

#include <errno.h>

#include "plan/plan_cost.h"

int nuioa_plan_keep(struct planner *p)
{
    p->plan->after = p->plan->before;
    p->plan->mapper = "keep";
    for (uint32_t i = 0; i < p->plan->task_count; i++) {
        struct nuioa_assignment *assignment = &p->plan->assignments[i];
        assignment->costs.after = assignment->costs.before;
        if (hwloc_bitmap_copy(assignment->cpus, assignment->was) < 0)
            return -ENOMEM;
    }
    return 0;
}

int nuioa_plan_judge(struct planner *p, const char *mapper)
{
    struct nuioa_plan *plan = p->plan;
    bool moves = false;
    for (uint32_t i = 0; i < plan->task_count; i++)
        moves |= !hwloc_bitmap_isequal(plan->assignments[i].cpus, plan->assignments[i].was);
    int rc = moves ? nuioa_plan_cost(p, false) : nuioa_plan_keep(p);
    if (rc < 0 || !moves)
        return rc < 0 ? rc : NUIOA_NOBODY_MOVES;
    /* A rounding error is no rise. */
    if (plan->after.j <= plan->before.j * (1 + 1e-12)) {
        plan->mapper = mapper;
        return NUIOA_STANDS;
    }
    rc = nuioa_plan_keep(p);
    return rc < 0 ? rc : NUIOA_COSTS_MORE;
}
