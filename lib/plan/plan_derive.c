/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_derive.h"

#include <errno.h>
#include <string.h>

#include "plan/gpu_rank.h"
#include "plan/leader.h"
#include "plan/plan_memory.h"
#include "plan/plan_threads.h"
#include "nics/rail_assign.h"

static int choose_leaders(struct planner *p)
{
    struct nuioa_plan *plan = p->plan;
    uint32_t n = plan->task_count;
    plan->order_count = plan->near = plan->rail_leader_count = 0;
    if (p->basis.request->options->leader == NUIOA_LEADER_OFF)
        return 0;
    struct nuioa_candidate *candidates = nuioa_arena_take(&p->arena, n, sizeof(*candidates));
    if (!candidates)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct nuioa_assignment *assignment = &plan->assignments[i];
        /* A rank beside a slow NIC that another one outruns (nics/rails.h) is not near. */
        uint32_t level = nuioa_rails_nearest(&p->basis.rails, assignment->cpus);
        candidates[i] = (struct nuioa_candidate){
            .local = i,
            .level = assignment->level > level ? assignment->level : level,
            .weight = assignment->weight,
            .nic_count = assignment->nic_count,
            .nics = assignment->nics,
        };
    }
    if (p->basis.request->options->leader == NUIOA_LEADER_NEAR)
        plan->near = nuioa_leader_order(candidates, n);
    else
        plan->near = 1; /* leader=rank0: there is no other candidate */
    plan->rail_leader_count = nuioa_rail_leaders(candidates, n, plan->rail_leaders);
    for (uint32_t i = 0; i < n; i++)
        plan->order[i] = candidates[i].local;
    plan->order_count = n;
    return 0;
}

/* Notes that the user may type which rank uses which GPU, if as many ranks as GPUs see all of them;
 * or that this was typed in vain. */
static void advise_on_gpus(const struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    bool rule = nuioa_gpu_rank_is_rule(r->options->gpus), all = true, some = false;
    for (uint32_t i = 0; i < r->task_count; i++) {
        const struct nuioa_task *task = &r->tasks[i];
        some = some || task->gpus_shared;
        all = all && task->gpus_shared && task->seen_count == r->task_count &&
              !memcmp(task->seen, r->tasks[0].seen, r->task_count * sizeof(*task->seen));
    }
    if (r->options->mode != NUIOA_OFF && (rule ? some : all))
        p->plan->advice |= 1u << (rule ? NUIOA_ADVICE_GPUS_ORDER : NUIOA_ADVICE_GPUS);
}

/* Takes its NICs from a rank that is alone and spans the NUMA nodes of all: none is its own. */
static void disown_nics(const struct planner *p)
{
    struct nuioa_plan *plan = p->plan;
    struct nuioa_assignment *only = &plan->assignments[0];
    if (plan->task_count > 1 || p->basis.request->options->rails || only->gpu_count ||
        !nuioa_rails_spanned(&p->basis.rails, only->cpus))
        return;
    only->nic = -1;
    only->nic_count = 0;
    only->level = NUIOA_NO_LEVEL;
    if (p->basis.request->options->mode != NUIOA_OFF)
        plan->advice |= 1u << NUIOA_ADVICE_NO_OWN_NIC;
}

/* Notes which word of the site keeps export=auto from naming the NICs of ranks. */
static void advise_on_exports(const struct planner *p)
{
    struct nuioa_plan *plan = p->plan;
    enum nuioa_advice lack = nuioa_usable_lacks(&plan->usable, p->basis.request->node);
    bool some = plan->task_count >= plan->usable.count && plan->usable.count > 2;
    for (uint32_t i = 0; i < plan->task_count; i++)
        some = some || plan->assignments[i].gpu_count;
    if (some && plan->task_count > 1 && lack != NUIOA_ADVICE_COUNT &&
        p->basis.request->options->export_set & NUIOA_EXPORT_AUTO)
        plan->advice |= 1u << lack;
}

int nuioa_plan_derive(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_plan *plan = p->plan;
    plan->moved = false;
    plan->advice = 0;
    advise_on_gpus(p);
    plan->binds_threads = nuioa_plan_binds_threads(p);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        assignment->rank = r->tasks[i].rank;
        assignment->weight = r->tasks[i].weight;
        assignment->moved = !hwloc_bitmap_isequal(assignment->cpus, r->tasks[i].cpus);
        plan->moved |= assignment->moved;
        nuioa_node_numas_of(r->node, assignment->cpus, assignment->numas);
    }
    int rc = nuioa_rails_assign(&p->basis.rails, r, plan->assignments);
    for (uint32_t i = 0; rc == 0 && i < plan->task_count; i++) {
        nuioa_plan_memory(p, &plan->assignments[i]);
        rc = nuioa_plan_threads(p, &plan->assignments[i]);
    }
    disown_nics(p);
    advise_on_exports(p);
    return rc == 0 ? choose_leaders(p) : rc;
}
