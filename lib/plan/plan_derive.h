/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_DERIVE_H
#define NUIOA_PLAN_PLAN_DERIVE_H

#include "plan/planner.h"

/* The second step of a plan derives everything that follows from the CPUs of the ranks. Private to
 * the library.
 *
 * It reads plan->usable and the CPUs of every assignment in planner->plan, and sets its rank,
 * weight, `moved`, NUMA nodes, NICs, GPUs, path, level, memory and OMP places; and of the plan
 * `moved`, `advice`, `binds_threads` and the leaders. It may be called again after CPUs have
 * changed. Returns 0; or -ENOMEM, and some of these may be unset. */
int nuioa_plan_derive(struct planner *planner);

#endif
