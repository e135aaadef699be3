/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_EXPLAIN_H
#define NUIOA_PLAN_PLAN_EXPLAIN_H

#include "plan/planner.h"

/* The last step of a plan finds what reports explain of each rank. Private to the library.
 *
 * It reads the CPUs and NUMA nodes of every assignment in planner->plan, and sets the rest of its
 * `costs`, and gpus_left. It decides nothing. Returns 0; or -ENOMEM, and some of these may be
 * unset. */
int nuioa_plan_explain(struct planner *planner);

#endif
