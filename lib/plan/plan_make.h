/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_MAKE_H
#define NUIOA_PLAN_PLAN_MAKE_H

#include "plan/plan.h"
#include "plan/request.h"

/* Makes plans. These functions read a request and write a plan; they bind nothing. */

/* Makes the plan. *plan is overwritten, so it must own nothing before. Returns 0, and the caller
 * frees *plan with nuioa_plan_free; or a negative errno with *err: -EINVAL for a wrong request or
 * `nic` option, -ETIME past cpu_until_us, -ENOMEM. *plan is then empty but for time_us. If no rank
 * moves, the plan is still complete (NICs, memory, leaders), with moved = false and the reason. */
int nuioa_plan_make(const struct nuioa_request *request, struct nuioa_plan *plan,
                    struct nuioa_error *err);

/* Replaces the planned CPUs of the task with local rank `local` by `cpus` (OS indexes, copied),
 * which it really has after binding, and computes again what follows from them: NUMA nodes, NIC,
 * level, memory, leaders and costs. `request` is the one that the plan was made from. Returns 0;
 * -EINVAL if there is no such local rank, and nothing is changed; or -ENOMEM, and the plan can
 * still be read and freed, but what follows from the CPUs may be missing. */
int nuioa_plan_achieved(const struct nuioa_request *request, struct nuioa_plan *plan,
                        uint32_t local, hwloc_const_bitmap_t cpus);

#endif
