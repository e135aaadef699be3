/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan_choose.h"
#include "plan/plan_judge.h"
#include "plan/plan_derive.h"
#include "plan/plan_explain.h"
#include "plan/planner.h"
#include "util/clock.h"

static void add_notes(struct nuioa_plan *plan)
{
    size_t used = strlen(plan->reason);
    if (plan->gpus_left)
        snprintf(plan->reason + used, sizeof(plan->reason) - used,
                 "; %u may be farther from their GPUs, which the cost does not count",
                 plan->gpus_left);
}

int nuioa_plan_make(const struct nuioa_request *request, struct nuioa_plan *plan,
                    struct nuioa_error *err)
{
    struct planner planner;
    int64_t start_us = nuioa_clock_us();
    *plan = (struct nuioa_plan){ 0 };
    int rc = nuioa_request_check(request, err);
    if (rc < 0)
        return rc;
    if (nuioa_plan_begin(plan, request) < 0) {
        nuioa_plan_free(plan);
        return nuioa_fail(err, -ENOMEM, "out of memory");
    }
    rc = nuioa_planner_init(&planner, request, plan, err);
    if (rc == 0) {
        rc = nuioa_usable_find(&plan->usable, &planner.basis.rails);
        if (rc == 0)
            rc = nuioa_plan_choose(&planner);
        if (rc == 0)
            rc = nuioa_plan_derive(&planner);
        if (rc == 0)
            rc = nuioa_plan_explain(&planner);
        if (rc == 0 && request->cpu_until_us && nuioa_cpu_us() > request->cpu_until_us)
            rc = -ETIME;
        if (rc == -ETIME)
            nuioa_fail(err, rc,
                       "a plan takes more processor time than deadline_ms allows: ranks stay where "
                       "Slurm put them");
        else if (rc < 0)
            nuioa_fail(err, rc, "the placement failed: %s", strerror(-rc));
        else
            add_notes(plan);
    }
    nuioa_planner_free(&planner);
    if (rc < 0)
        nuioa_plan_free(plan);
    plan->time_us = (uint32_t)(nuioa_clock_us() - start_us);
    return rc;
}

int nuioa_plan_undo(const struct nuioa_request *request, struct nuioa_plan *plan)
{
    struct planner planner;
    struct nuioa_warnings known = plan->warnings; /* the planner finds them again */
    int rc = nuioa_planner_init(&planner, request, plan, NULL);
    plan->warnings = known;
    planner.acts = false;
    if (rc == 0)
        rc = nuioa_plan_keep(&planner);
    if (rc == 0)
        rc = nuioa_plan_derive(&planner);
    if (rc == 0)
        rc = nuioa_plan_explain(&planner);
    plan->moved = plan->bound_known = false;
    plan->evaluations = 0;
    nuioa_planner_say(&planner, request->stay ? request->stay : NUIOA_REASON_BIND_FAILED);
    nuioa_planner_free(&planner);
    return rc;
}
