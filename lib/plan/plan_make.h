/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_MAKE_H
#define NUIOA_PLAN_PLAN_MAKE_H

#include "plan/plan.h"
#include "ranks/request.h"

/* Makes plans. These functions read a request and write a plan; they bind nothing. */

/* Makes the plan. *plan is overwritten, so it must own nothing before. Returns 0, and the caller
 * frees *plan with nuioa_plan_free; or a negative errno with *err: -EINVAL for a wrong request or
 * `nic` option, -ETIME past cpu_until_us, -ENOMEM. *plan is then empty but for time_us. If no rank
 * moves, the plan is still complete (NICs, memory, leaders), with moved = false and the reason. */
int nuioa_plan_make(const struct nuioa_request *request, struct nuioa_plan *plan,
                    struct nuioa_error *err);

/* Takes a plan back that the kernel has refused: all ranks have the CPUs that Slurm gave, and all
 * that follows from them is as with the mode export, but the reason, which is request->stay, if
 * there is one. Besides that `request` is the one that the plan was made from. Returns 0; or
 * -ENOMEM, and the plan can still be read and freed, but what follows from the CPUs may be
 * missing. */
int nuioa_plan_undo(const struct nuioa_request *request, struct nuioa_plan *plan);

#endif
