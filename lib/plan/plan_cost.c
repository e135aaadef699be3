/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_cost.h"

#include <errno.h>
#include <stdlib.h>

#include "slots/rail_load.h"
#include "slots/slot.h"

/* Adds the cost of each pair, one half to each of its ranks. */
static int add_pairs(const struct nuioa_request *r, const hwloc_const_bitmap_t *cpus,
                     struct nuioa_plan_cost *cost, struct nuioa_split *ranks)
{
    struct nuioa_location *at = malloc(r->task_count * sizeof(*at));
    if (!at)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->task_count; i++)
        at[i] = nuioa_location_of(r->node, cpus[i]);
    for (uint32_t k = 0; k < r->pair_count; k++) {
        const struct nuioa_pair *pair = &r->pairs[k];
        double here =
            pair->bytes * nuioa_location_cost(r->node, &at[pair->first], &at[pair->second]);
        ranks[pair->first].neighbours += here / 2;
        ranks[pair->second].neighbours += here / 2;
        cost->neighbours += here;
    }
    free(at);
    return 0;
}

/* Computes J of cpus[task_count]; sets ranks[task_count] to the parts of the ranks. */
static int compute(const struct planner *p, const hwloc_const_bitmap_t *cpus,
                   struct nuioa_plan_cost *cost, struct nuioa_split *ranks)
{
    const struct nuioa_request *r = p->basis.request;
    *cost = (struct nuioa_plan_cost){ 0 };
    for (uint32_t i = 0; i < r->task_count; i++) {
        ranks[i] =
            (struct nuioa_split){ r->tasks[i].weight * nuioa_nic_price(&p->basis, i, cpus[i]), 0 };
        cost->nic += ranks[i].nic;
    }
    int rc = nuioa_rail_load_on(&p->basis, cpus, &cost->load);
    if (rc == 0 && r->pair_count)
        rc = add_pairs(r, cpus, cost, ranks);
    cost->j = cost->nic + cost->neighbours + cost->load.cost;
    return rc;
}

int nuioa_plan_cost(struct planner *p, bool before)
{
    const uint32_t n = p->basis.request->task_count;
    struct nuioa_assignment *assignments = p->plan->assignments;
    hwloc_const_bitmap_t *cpus = malloc(n * sizeof(*cpus));
    struct nuioa_split *ranks = malloc(n * sizeof(*ranks));
    int rc = cpus && ranks ? 0 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        cpus[i] = before ? assignments[i].was : assignments[i].cpus;
    if (rc == 0)
        rc = compute(p, cpus, before ? &p->plan->before : &p->plan->after, ranks);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        *(before ? &assignments[i].costs.before : &assignments[i].costs.after) = ranks[i];
    free(cpus);
    free(ranks);
    return rc;
}
