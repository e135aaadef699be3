/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_costs.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/gpu_near.h"
#include "plan/rail_load.h"
#include "plan/slot.h"

/* The locations of all ranks, with the CPUs that Slurm gave or with the planned ones. */
struct rank_locations {
    struct nuioa_location *locations; /* [task_count] */
    double *nic_cost;                 /* [task_count] */
};

static void rank_locations_free(struct rank_locations *list)
{
    free(list->locations);
    free(list->nic_cost);
}

static int rank_locations_find(struct rank_locations *list, const struct planner *p, bool before)
{
    uint32_t n = p->request->task_count;
    list->locations = malloc(n * sizeof(*list->locations));
    list->nic_cost = malloc(n * sizeof(*list->nic_cost));
    if (!list->locations || !list->nic_cost)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        struct nuioa_assignment *assignment = &p->plan->assignments[i];
        hwloc_const_bitmap_t cpus = before ? assignment->was : assignment->cpus;
        uint32_t level = nuioa_nic_level(p, i, cpus);
        list->locations[i] = nuioa_location_of(p->request->node, cpus);
        list->nic_cost[i] = nuioa_nic_price(p, i, cpus);
        if (before)
            assignment->costs.level_before = level;
    }
    return 0;
}

static int heavier_first(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
}

static int count_heavier(struct nuioa_plan *plan)
{
    uint32_t n = plan->task_count;
    double *sorted = malloc(n * sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = plan->assignments[i].weight;
    qsort(sorted, n, sizeof(*sorted), heavier_first);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t low = 0, high = n; /* the first index that is not heavier */
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (sorted[middle] > plan->assignments[i].weight)
                low = middle + 1;
            else
                high = middle;
        }
        plan->assignments[i].costs.heavier = low;
    }
    free(sorted);
    return 0;
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
                     double before, double after, double *most)
{
    struct nuioa_rank_costs *costs = &plan->assignments[me].costs;
    costs->before.neighbours += before / 2;
    costs->after.neighbours += after / 2;
    costs->local += bytes;
    if (hwloc_bitmap_isequal(plan->assignments[me].numas, plan->assignments[other].numas))
        costs->beside += bytes;
    add_partner(costs, most, other, bytes);
}

static int add_pairs(const struct planner *p, const struct rank_locations *before,
                     const struct rank_locations *after)
{
    const struct nuioa_request *r = p->request;
    double(*most)[NUIOA_PARTNERS_MAX] = calloc(r->task_count, sizeof(*most));
    if (!most)
        return -ENOMEM;
    for (uint32_t k = 0; k < r->pair_count; k++) {
        const struct nuioa_pair *pair = &r->pairs[k];
        uint32_t a = pair->first, b = pair->second;
        double was = pair->bytes *
                     nuioa_location_cost(r->node, &before->locations[a], &before->locations[b]);
        double is =
            pair->bytes * nuioa_location_cost(r->node, &after->locations[a], &after->locations[b]);
        if (pair->bytes <= 0)
            continue;
        add_pair(p->plan, a, b, pair->bytes, was, is, most[a]);
        add_pair(p->plan, b, a, pair->bytes, was, is, most[b]);
    }
    free(most);
    return 0;
}

/* Finds for each rank that moved a rank that moved to some of its former CPUs. */
static int find_successors(struct nuioa_plan *plan, uint32_t cpu_count)
{
    int32_t *owner = malloc((cpu_count + 1) * sizeof(*owner));
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
    free(owner);
    return 0;
}

/* Counts the ranks that moved and are farther from their GPUs than before, or may be. */
static void count_gpus_left(const struct planner *p)
{
    const struct nuioa_request *r = p->request;
    p->plan->gpus_left = 0;
    for (uint32_t i = 0; r->sees_gpu && i < r->task_count; i++) {
        const struct nuioa_assignment *assignment = &p->plan->assignments[i];
        uint32_t level = nuioa_gpu_level(r->node, &r->tasks[i], assignment->cpus);
        p->plan->gpus_left +=
            assignment->moved && (!r->tasks[i].gpus_known || level == NUIOA_NO_LEVEL ||
                                  level > nuioa_gpu_level(r->node, &r->tasks[i], assignment->was));
    }
}

static void add_up(struct nuioa_plan *plan)
{
    plan->before = plan->after = (struct nuioa_split){ 0, 0 };
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const struct nuioa_rank_costs *costs = &plan->assignments[i].costs;
        plan->before.nic += costs->before.nic;
        plan->before.neighbours += costs->before.neighbours;
        plan->after.nic += costs->after.nic;
        plan->after.neighbours += costs->after.neighbours;
    }
}

int nuioa_plan_costs(struct planner *p)
{
    struct nuioa_plan *plan = p->plan;
    struct rank_locations before = { 0 }, after = { 0 };
    for (uint32_t i = 0; i < plan->task_count; i++)
        plan->assignments[i].costs = (struct nuioa_rank_costs){ .gave_way = -1 };
    int rc = rank_locations_find(&before, p, true);
    if (rc == 0)
        rc = rank_locations_find(&after, p, false);
    for (uint32_t i = 0; rc == 0 && i < plan->task_count; i++) {
        /* -Wanalyzer-use-of-uninitialized-value: all costs were found above.
         * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        plan->assignments[i].costs.before.nic = plan->assignments[i].weight * before.nic_cost[i];
        plan->assignments[i].costs.after.nic = plan->assignments[i].weight * after.nic_cost[i];
    }
    if (rc == 0)
        rc = add_pairs(p, &before, &after);
    if (rc == 0)
        rc = count_heavier(plan);
    if (rc == 0)
        rc = find_successors(plan, p->rails.cpu_count);
    if (rc == 0)
        rc = nuioa_rail_load_in(&p->rails, p->request, NULL, NULL, &plan->load_before);
    if (rc == 0) {
        count_gpus_left(p);
        add_up(plan);
        plan->load_after = nuioa_rail_load(&p->rails, p->request, plan->assignments);
    }
    rank_locations_free(&before);
    rank_locations_free(&after);
    return rc;
}
