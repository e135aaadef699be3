/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan_choose.h"
#include "plan/plan_cost.h"
#include "plan/plan_derive.h"
#include "plan/plan_explain.h"
#include "plan/planner.h"
#include "topology/nic_guess.h"
#include "topology/nic_subnet.h"
#include "util/clock.h"

static void add_notes(struct nuioa_plan *plan)
{
    size_t used = strlen(plan->reason);
    if (plan->gpus_left)
        snprintf(plan->reason + used, sizeof(plan->reason) - used,
                 "; %u may be farther from their GPUs, which the cost does not count",
                 plan->gpus_left);
}

/* Says in the plan which NICs ranks may use. */
static int list_nics(const struct planner *p)
{
    struct nuioa_plan *plan = p->plan;
    plan->nics = malloc((p->rails.count + 1) * sizeof(*plan->nics));
    if (!plan->nics)
        return -ENOMEM;
    plan->nic_count = p->rails.count;
    /* -Wanalyzer-malloc-leak: nuioa_plan_free frees them. */
    if (p->rails.count)
        memcpy(plan->nics, p->rails.nic, p->rails.count * sizeof(*plan->nics));
    plan->guessed = p->rails.guessed;
    for (uint32_t i = 0; i < plan->nic_count; i++)
        plan->doubted |= nuioa_nic_is_doubted(&p->request->node->nics[plan->nics[i]]);
    plan->connected =
        !plan->guessed && (p->request->options->rails_connected ||
                           nuioa_nics_are_connected(p->request->node, plan->nics, plan->nic_count));
    return 0;
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
        rc = list_nics(&planner);
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
    nuioa_planner_say(&planner, NUIOA_REASON_BIND_FAILED);
    nuioa_planner_free(&planner);
    return rc;
}
