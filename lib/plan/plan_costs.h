/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_COSTS_H
#define NUIOA_PLAN_PLAN_COSTS_H

#include "plan/planner.h"

/* The third step of a plan: computes what each rank contributes to the cost J, with the CPUs that
 * Slurm gave and with the planned ones. Private to the library.
 *
 * It sets `costs` of every assignment, and their sums and gpus_left in the plan. 0 or -ENOMEM. */
int nuioa_plan_costs(struct planner *planner);

#endif
