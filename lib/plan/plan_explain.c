/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_explain.h"

#include <errno.h>

#include "nics/gpu_distance.h"
#include "slots/core.h"

static int count_heavier(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    uint32_t *order = nuioa_by_weight(r, &p->arena);
    for (uint32_t k = 0, heavier = 0; order && k < r->task_count; k++) {
        if (k && r->tasks[order[k]].weight < r->tasks[order[k - 1]].weight)
            heavier = k;
        p->plan->assignments[order[k]].costs.heavier = heavier;
    }
    return order ? 0 : -ENOMEM;
}

/* Adds a partner if it is among those with most bytes; of partners with equal bytes, the lower rank
 * comes first. Pairs come in any order. most[k] is the traffic with partner k in bytes. */
static void add_partner(struct nuioa_rank_costs *costs, double *most, uint32_t other, double bytes)
{
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

static void add_pair(struct nuioa_plan *plan, uint32_t me, uint32_t other, double bytes,
                     double *most)
{
    struct nuioa_rank_costs *costs = &plan->assignments[me].costs;
    costs->local += bytes;
    if (hwloc_bitmap_isequal(plan->assignments[me].numas, plan->assignments[other].numas))
        costs->beside += bytes;
    add_partner(costs, most, other, bytes);
}

static int add_pairs(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    double(*most)[NUIOA_PARTNERS_MAX] = nuioa_arena_take(&p->arena, r->task_count, sizeof(*most));
    if (!most)
        return -ENOMEM;
    for (uint32_t k = 0; k < r->pair_count; k++) {
        const struct nuioa_pair *pair = &r->pairs[k];
        if (pair->bytes <= 0)
            continue;
        add_pair(p->plan, pair->first, pair->second, pair->bytes, most[pair->first]);
        add_pair(p->plan, pair->second, pair->first, pair->bytes, most[pair->second]);
    }
    return 0;
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

/* Returns true if cores that the step lacks are nearer to the GPUs of a task than its CPUs, which
 * are at this level. `lacks` are their CPUs. */
static bool needs(const struct nuioa_node *node, const struct nuioa_task *task, uint32_t level,
                  hwloc_const_bitmap_t lacks)
{
    return level != NUIOA_NO_LEVEL && nuioa_gpu_nearest(node, task, lacks) < level &&
           nuioa_gpu_nearest(node, task, lacks) == nuioa_gpu_nearest(node, task, NULL);
}

/* Notes that a job with other cores would help ranks that are far from their GPUs. */
static int advise_on_far(const struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    hwloc_bitmap_t lacks = hwloc_bitmap_alloc();
    int rc = lacks ? nuioa_cores_whole(r->node, p->basis.allowed_cpus, lacks) : -ENOMEM;
    if (rc == 0 && hwloc_bitmap_andnot(lacks, r->node->allowed_cpus, lacks) < 0)
        rc = -ENOMEM;
    for (uint32_t i = 0; rc == 0 && r->options->mode != NUIOA_OFF && i < r->task_count; i++)
        if (needs(r->node, &r->tasks[i], p->plan->assignments[i].gpu_level, lacks))
            p->plan->advice |= 1u << NUIOA_ADVICE_GPUS_FAR;
    hwloc_bitmap_free(lacks);
    return rc;
}

int nuioa_plan_explain(struct planner *p)
{
    struct nuioa_plan *plan = p->plan;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        assignment->costs = (struct nuioa_rank_costs){
            .before = assignment->costs.before,
            .after = assignment->costs.after,
            .level_before = nuioa_nic_level(&p->basis, i, assignment->was),
            .gave_way = -1,
        };
    }
    int rc = add_pairs(p);
    if (rc == 0)
        rc = count_heavier(p);
    if (rc == 0)
        rc = find_successors(p);
    if (rc == 0)
        find_gpu_levels(p);
    return rc == 0 ? advise_on_far(p) : rc;
}
