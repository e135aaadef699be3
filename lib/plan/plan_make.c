/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan.h"

#include <errno.h>
#include <string.h>

#include "plan/planner.h"
#include "slots/free_cores.h"
#include "util/clock.h"

/* Makes a plan in which no rank moves and nothing is decided yet. */
static void begin(struct nuioa_plan *plan, const struct nuioa_request *r)
{
    *plan = (struct nuioa_plan){
        .planned = r->planned,
        .policy = r->options->policy,
        .hinted = r->hinted,
        .task_count = r->task_count,
    };
    struct nuioa_arena *arena = &plan->arena;
    plan->assignments = nuioa_arena_take(arena, r->task_count, sizeof(*plan->assignments));
    plan->order = nuioa_arena_take(arena, r->task_count, sizeof(*plan->order));
    plan->rail_leaders = nuioa_arena_take(arena, r->task_count, sizeof(*plan->rail_leaders));
    for (uint32_t i = 0; !arena->failed && i < r->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        assignment->cpus = nuioa_arena_bitmap(arena, r->tasks[i].cpus);
        assignment->was = nuioa_arena_bitmap(arena, r->tasks[i].cpus);
        assignment->numas = nuioa_arena_bitmap(arena, NULL);
        assignment->memory_numas = nuioa_arena_bitmap(arena, NULL);
    }
}

/* Fills *planner, and adds the warnings of the rails to plan->warnings. Returns what
 * nuioa_basis_init does, or -ENOMEM where the plan has no memory. */
static int planner_init(struct planner *p, const struct nuioa_request *r, struct nuioa_plan *plan,
                        struct nuioa_error *err)
{
    *p = (struct planner){ .plan = plan, .acts = r->options->mode == NUIOA_ON };
    p->slot_of = nuioa_arena_take(&p->arena, r->task_count, sizeof(*p->slot_of));
    for (uint32_t i = 0; p->slot_of && i < r->task_count; i++)
        p->slot_of[i] = i;
    int rc = nuioa_basis_init(&p->basis, r, &p->arena, &plan->warnings, err);
    p->refused = nuioa_free_cores_refused(&p->basis);
    p->free_among = p->refused == NUIOA_REASON_NONE ? p->basis.allowed_cpus : NULL;
    return rc == 0 && plan->arena.failed ? nuioa_fail(err, -ENOMEM, "out of memory") : rc;
}

static void planner_free(struct planner *p)
{
    nuioa_rails_free(&p->basis.rails);
    nuioa_arena_free(&p->arena);
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
    begin(plan, request);
    rc = planner_init(&planner, request, plan, err);
    if (rc == 0) {
        rc = nuioa_usable_find(&plan->usable, &planner.basis.rails, &plan->arena);
        if (rc == 0)
            rc = nuioa_plan_choose(&planner);
        if (rc == 0)
            rc = nuioa_plan_derive(&planner);
        if (rc == 0 && request->cpu_until_us && nuioa_cpu_us() > request->cpu_until_us)
            rc = -ETIME;
        if (rc == -ETIME)
            nuioa_fail(err, rc,
                       "a plan takes more processor time than deadline_ms allows: ranks stay where "
                       "Slurm put them");
        else if (rc < 0)
            nuioa_fail(err, rc, "the placement failed: %s", strerror(-rc));
        else if (plan->gpus_left)
            snprintf(plan->reason + strlen(plan->reason),
                     sizeof(plan->reason) - strlen(plan->reason),
                     "; %u may be farther from their GPUs, which the cost does not count",
                     plan->gpus_left);
    }
    planner_free(&planner);
    if (rc < 0)
        nuioa_plan_free(plan);
    plan->time_us = (uint32_t)(nuioa_clock_us() - start_us);
    return rc;
}

int nuioa_plan_undo(const struct nuioa_request *request, struct nuioa_plan *plan)
{
    struct planner planner;
    struct nuioa_warnings known = plan->warnings; /* the planner finds them again */
    int rc = planner_init(&planner, request, plan, NULL);
    plan->warnings = known;
    planner.acts = false;
    if (rc == 0)
        rc = nuioa_plan_keep(&planner);
    if (rc == 0)
        rc = nuioa_plan_derive(&planner);
    plan->moved = plan->bound_known = false;
    plan->evaluations = 0;
    nuioa_planner_say(&planner, request->stay ? request->stay : NUIOA_REASON_BIND_FAILED);
    planner_free(&planner);
    return rc;
}
