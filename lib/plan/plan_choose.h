/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_CHOOSE_H
#define NUIOA_PLAN_PLAN_CHOOSE_H

#include "plan/planner.h"

/* The first step of a plan chooses on which CPUs each rank runs. Private to the library.
 *
 * It reads planner->basis, and sets in planner->plan the CPUs of every assignment and its part of
 * J, J before and after, the mapper, its work and bound, and the reason; and may add warnings. It
 * also changes planner->slot_of. Returns 0; -ENOMEM; or -ETIME if the thread's processor time is
 * past request->cpu_until_us. After an error some CPUs may have been set. */
int nuioa_plan_choose(struct planner *planner);

#endif
