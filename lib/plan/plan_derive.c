/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"

#include <errno.h>
#include <string.h>

#include "nics/gpu_distance.h"
#include "nics/rail_assign.h"
#include "slots/core.h"

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
    /* With leader=rank0 there is no other candidate. */
    bool sorts = p->basis.request->options->leader == NUIOA_LEADER_NEAR;
    plan->near = sorts ? nuioa_leader_order(candidates, n) : 1;
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

/* --- what reports explain --------------------------------------------------------------------- */

/* Adds a partner if it is among those with most bytes; of partners with equal bytes, the lower rank
 * comes first. Pairs come in any order. */
static void add_partner(struct nuioa_rank_costs *costs, uint32_t other, double bytes)
{
    double *most = costs->partner_bytes;
    uint32_t at = costs->partner_count;
    while (at > 0 &&
           (bytes > most[at - 1] || (bytes == most[at - 1] && other < costs->partners[at - 1])))
        at--;
    if (at == NUIOA_PARTNERS_MAX)
        return;
    if (costs->partner_count < NUIOA_PARTNERS_MAX)
        costs->partner_count++;
    for (uint32_t k = costs->partner_count - 1; k > at; k--) {
        costs->partners[k] = costs->partners[k - 1];
        most[k] = most[k - 1];
    }
    costs->partners[at] = other;
    most[at] = bytes;
}

static void add_pair(struct nuioa_plan *plan, uint32_t me, uint32_t other, double bytes)
{
    struct nuioa_rank_costs *costs = &plan->assignments[me].costs;
    if (bytes <= 0)
        return;
    costs->local += bytes;
    if (hwloc_bitmap_isequal(plan->assignments[me].numas, plan->assignments[other].numas))
        costs->beside += bytes;
    add_partner(costs, other, bytes);
}

/* Finds for each rank that moved a rank that moved to some of its former CPUs. */
static int find_successors(struct planner *p)
{
    struct nuioa_plan *plan = p->plan;
    const uint32_t cpu_count = p->basis.rails.cpu_count;
    int32_t *owner = nuioa_arena_take(&p->arena, cpu_count, sizeof(*owner));
    int cpu;
    if (!owner)
        return -ENOMEM;
    for (uint32_t i = 0; i < cpu_count; i++)
        owner[i] = -1;
    for (uint32_t i = 0; i < plan->task_count; i++)
        for (cpu = -1; (cpu = hwloc_bitmap_next(plan->assignments[i].cpus, cpu)) >= 0;)
            if (plan->assignments[i].moved && (uint32_t)cpu < cpu_count)
                owner[cpu] = (int32_t)i;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        for (cpu = -1; (cpu = hwloc_bitmap_next(assignment->was, cpu)) >= 0;)
            if (assignment->moved && assignment->costs.gave_way < 0 && (uint32_t)cpu < cpu_count &&
                owner[cpu] != (int32_t)i)
                assignment->costs.gave_way = owner[cpu];
    }
    return 0;
}

/* Finds how far ranks are from their GPUs, and counts those that moved and are farther than before,
 * or may be. */
static void find_gpu_levels(const struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    p->plan->gpus_left = 0;
    for (uint32_t i = 0; i < r->task_count; i++) {
        struct nuioa_assignment *assignment = &p->plan->assignments[i];
        const struct nuioa_task *task = &r->tasks[i];
        bool has = task->gpus_known && task->gpu_count;
        uint32_t level = nuioa_gpu_level(r->node, task, assignment->cpus);
        uint32_t before = nuioa_gpu_level(r->node, task, assignment->was);
        assignment->gpu_level = has ? level : NUIOA_NO_LEVEL;
        assignment->costs.gpu_level_before = has ? before : NUIOA_NO_LEVEL;
        p->plan->gpus_left += r->sees_gpu && assignment->moved &&
                              (!task->gpus_known || level == NUIOA_NO_LEVEL || level > before);
    }
}

/* Notes that a job with other cores would help ranks that are far from their GPUs: cores that the
 * step lacks are nearer, and as near as any. */
static int advise_on_far(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    hwloc_bitmap_t lacks = nuioa_arena_bitmap(&p->arena, NULL);
    if (!lacks || nuioa_cores_whole(r->node, p->basis.allowed_cpus, lacks) < 0 ||
        hwloc_bitmap_andnot(lacks, r->node->allowed_cpus, lacks) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; r->options->mode != NUIOA_OFF && i < r->task_count; i++) {
        const struct nuioa_task *task = &r->tasks[i];
        uint32_t level = p->plan->assignments[i].gpu_level;
        if (level != NUIOA_NO_LEVEL && nuioa_gpu_nearest(r->node, task, lacks) < level &&
            nuioa_gpu_nearest(r->node, task, lacks) == nuioa_gpu_nearest(r->node, task, NULL))
            p->plan->advice |= 1u << NUIOA_ADVICE_GPUS_FAR;
    }
    return 0;
}

/* Finds what reports explain of each rank, from its CPUs and NUMA nodes. It decides nothing. */
static int explain(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_plan *plan = p->plan;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        assignment->costs = (struct nuioa_rank_costs){
            .before = assignment->costs.before,
            .after = assignment->costs.after,
            .level_before = nuioa_nic_level(&p->basis, i, assignment->was),
            .gave_way = -1,
        };
        for (uint32_t k = 0; r->hinted && k < plan->task_count; k++)
            assignment->costs.heavier += plan->assignments[k].weight > assignment->weight;
    }
    for (uint32_t k = 0; k < r->pair_count; k++) {
        add_pair(plan, r->pairs[k].first, r->pairs[k].second, r->pairs[k].bytes);
        add_pair(plan, r->pairs[k].second, r->pairs[k].first, r->pairs[k].bytes);
    }
    if (find_successors(p) < 0)
        return -ENOMEM;
    find_gpu_levels(p);
    return advise_on_far(p);
}

int nuioa_plan_derive(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_plan *plan = p->plan;
    plan->moved = plan->binds_threads = false;
    plan->advice = 0;
    advise_on_gpus(p);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        assignment->rank = r->tasks[i].rank;
        assignment->weight = r->tasks[i].weight;
        assignment->moved = !hwloc_bitmap_isequal(assignment->cpus, r->tasks[i].cpus);
        plan->moved |= assignment->moved;
        nuioa_node_numas_of(r->node, assignment->cpus, assignment->numas);
    }
    int rc = nuioa_rails_assign(&p->basis.rails, r, plan->assignments, &plan->arena);
    for (uint32_t i = 0; rc == 0 && i < plan->task_count; i++) {
        nuioa_plan_memory(p, &plan->assignments[i]);
        rc = nuioa_plan_threads(p, &plan->assignments[i]);
    }
    disown_nics(p);
    advise_on_exports(p);
    if (rc == 0)
        rc = choose_leaders(p);
    return rc == 0 ? explain(p) : rc;
}
