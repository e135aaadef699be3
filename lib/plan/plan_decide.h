/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_DECIDE_H
#define NUIOA_PLAN_PLAN_DECIDE_H

#include "plan/planner.h"

/* The first step of a plan: decides on which CPUs each rank runs. Private to the library.
 *
 * It sets the CPUs of every assignment, the mapping and the reason. 0 or negative (-ENOMEM, or
 * -ETIME when the thread's clock is past request->cpu_until_us). */
int nuioa_plan_decide(struct planner *planner);

#endif
