/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_EXPLAIN_H
#define NUIOA_PLAN_PLAN_EXPLAIN_H

#include "plan/planner.h"

/* The last step of a plan finds what reports explain of each rank. Private to the library.
 *
 * It reads what nuioa_plan_derive has set in planner->plan, and sets `gpu_level` and the rest of
 * `costs` of every assignment, and gpus_left. It may add to plan->advice. It decides nothing.
 * Returns 0; or -ENOMEM, and some of these may be unset. */
int nuioa_plan_explain(struct planner *planner);

#endif
