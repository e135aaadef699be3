/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"

#include <errno.h>

#include "slots/rail_load.h"

static struct nuioa_split *part_of(struct nuioa_assignment *assignment, bool before)
{
    return before ? &assignment->costs.before : &assignment->costs.after;
}

/* Adds the cost of each pair, one half to each of its ranks. */
static int add_pairs(struct planner *p, bool before, struct nuioa_plan_cost *cost)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_assignment *assignments = p->plan->assignments;
    struct nuioa_location *at = nuioa_arena_take(&p->arena, r->task_count, sizeof(*at));
    if (!at)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->task_count; i++)
        at[i] = nuioa_location_of(r->node, before ? assignments[i].was : assignments[i].cpus);
    for (uint32_t k = 0; k < r->pair_count; k++) {
        const struct nuioa_pair *pair = &r->pairs[k];
        double here =
            pair->bytes * nuioa_location_cost(r->node, &at[pair->first], &at[pair->second]);
        part_of(&assignments[pair->first], before)->neighbours += here / 2;
        part_of(&assignments[pair->second], before)->neighbours += here / 2;
        cost->neighbours += here;
    }
    return 0;
}

int nuioa_plan_cost(struct planner *p, bool before)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_assignment *assignments = p->plan->assignments;
    struct nuioa_plan_cost cost = { 0 };
    for (uint32_t i = 0; i < r->task_count; i++) {
        struct nuioa_assignment *a = &assignments[i];
        double price = nuioa_nic_price(&p->basis, i, before ? a->was : a->cpus);
        *part_of(a, before) = (struct nuioa_split){ r->tasks[i].weight * price, 0 };
        cost.nic += part_of(a, before)->nic;
    }
    int rc = nuioa_rail_load_on(&p->basis, before ? NULL : assignments, &cost.load);
    if (rc == 0 && r->pair_count)
        rc = add_pairs(p, before, &cost);
    cost.j = cost.nic + cost.neighbours + cost.load.cost;
    *(before ? &p->plan->before : &p->plan->after) = cost;
    return rc;
}

int nuioa_plan_keep(struct planner *p)
{
    p->plan->after = p->plan->before;
    p->plan->mapper = "keep";
    for (uint32_t i = 0; i < p->plan->task_count; i++) {
        struct nuioa_assignment *assignment = &p->plan->assignments[i];
        assignment->costs.after = assignment->costs.before;
        if (hwloc_bitmap_copy(assignment->cpus, assignment->was) < 0)
            return -ENOMEM;
    }
    return 0;
}

int nuioa_plan_judge(struct planner *p, const char *mapper)
{
    struct nuioa_plan *plan = p->plan;
    bool moves = false;
    for (uint32_t i = 0; i < plan->task_count; i++)
        moves |= !hwloc_bitmap_isequal(plan->assignments[i].cpus, plan->assignments[i].was);
    int rc = moves ? nuioa_plan_cost(p, false) : nuioa_plan_keep(p);
    if (rc < 0 || !moves)
        return rc < 0 ? rc : NUIOA_NOBODY_MOVES;
    /* A rounding error is no rise. */
    if (plan->after.j <= plan->before.j * (1 + 1e-12)) {
        plan->mapper = mapper;
        return NUIOA_STANDS;
    }
    rc = nuioa_plan_keep(p);
    return rc < 0 ? rc : NUIOA_COSTS_MORE;
}

void nuioa_planner_say(struct planner *p, enum nuioa_reason why)
{
    p->plan->why = why;
    nuioa_copy(p->plan->reason, sizeof(p->plan->reason), nuioa_reason_text(why));
}
