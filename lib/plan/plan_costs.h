/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_COSTS_H
#define NUIOA_PLAN_PLAN_COSTS_H

#include "plan/planner.h"

/* The third step of a plan computes what each rank contributes to the cost J (mapping/problem.h),
 * with the CPUs that Slurm gave and with the planned ones. Private to the library.
 *
 * It reads the CPUs and NUMA nodes of every assignment in planner->plan, and sets its `costs`,
 * their sums `before` and `after`, the loads of the NICs, and gpus_left. Returns 0; or -ENOMEM, and
 * some of these may be unset. */
int nuioa_plan_costs(struct planner *planner);

#endif
