/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_COST_H
#define NUIOA_PLAN_PLAN_COST_H

#include "plan/planner.h"

/* The cost J of a placement (mapping/problem.h), and the one decision by it. Private to the
 * library. */

/* Computes the cost with the NICs that ranks would get, and the part of each rank in it. With
 * `before` it is of the CPUs that Slurm gave: plan->before, and `costs.before` of the assignments.
 * Else it is of the CPUs in the assignments: plan->after, and `costs.after`. Mappers have a J of
 * their own, which estimates the NICs of ranks that may have several, or GPUs. Returns 0; or
 * -ENOMEM, and what it sets is undefined. */
int nuioa_plan_cost(struct planner *planner, bool before);

enum nuioa_verdict {
    NUIOA_NOBODY_MOVES, /* the assignments have the CPUs that Slurm gave */
    NUIOA_COSTS_MORE,   /* J would rise: all ranks have the CPUs again that Slurm gave */
    NUIOA_STANDS,       /* J does not rise: the CPUs in the assignments are the plan */
};

/* Decides on the CPUs in the assignments, after plan->before is known, and sets plan->after and
 * plan->mapper: `mapper` has found these CPUs. Returns the verdict or -ENOMEM. */
int nuioa_plan_judge(struct planner *planner, const char *mapper);

/* Gives all ranks the CPUs again that Slurm gave, with their cost. Returns 0 or -ENOMEM. */
int nuioa_plan_keep(struct planner *planner);

/* Makes `why` the reason of the plan, with its sentence. */
void nuioa_planner_say(struct planner *planner, enum nuioa_reason why);

#endif
