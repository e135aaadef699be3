/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_COST_H
#define NUIOA_PLAN_PLAN_COST_H

#include "plan/planner.h"

/* Computes the cost J of a placement (mapping/problem.h) with the NICs that ranks would get there,
 * and the part of each rank in it: with `before` of the CPUs that Slurm gave, plan->before, else of
 * those in the assignments, plan->after. Mappers have a J of their own, which only estimates the
 * NICs. Returns 0 or -ENOMEM. Private to the library. */
int nuioa_plan_cost(struct planner *planner, bool before);

#endif
