/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/mapping.h"

struct candidate {
    uint32_t index; /* of the task, or of the slot */
    uint32_t kind;
    double weight; /* tasks: descending first */
    double cost;   /* of the slot, or of the slot where the task starts */
    uint32_t tie;
};

/* Kind by kind, heavy before light, near before far. Tasks of equal weight go by where they start,
 * so that those already near stay. */
static int by_rank(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static uint32_t list_tasks(const struct nuioa_problem *p, struct candidate *tasks)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->task_count; i++) {
        uint32_t s = p->start[i];
        if (!p->pinned || !p->pinned[i])
            tasks[count++] =
                (struct candidate){ i, p->task_kind[i], p->weight[i], p->nic_cost[s], p->tie[s] };
    }
    qsort(tasks, count, sizeof(*tasks), by_rank);
    return count;
}

static uint32_t list_slots(const struct nuioa_problem *p, const bool *taken,
                           struct candidate *slots)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < p->slot_count; s++)
        if (!taken[s])
            slots[count++] = (struct candidate){ s, p->kind[s], 0, p->nic_cost[s], p->tie[s] };
    qsort(slots, count, sizeof(*slots), by_rank);
    return count;
}

/* A task and the slot it is dealt. */
struct deal {
    uint32_t task, slot;
    uint32_t kind;
    double weight; /* of the task */
    double cost;   /* of the slot */
    uint32_t tie;
};

/* Deals slots to tasks kind by kind; false if a kind has more tasks than slots. */
static bool deal_out(const struct candidate *tasks, uint32_t task_count,
                     const struct candidate *slots, uint32_t slot_count, struct deal *deals)
{
    uint32_t s = 0;
    for (uint32_t t = 0; t < task_count; t++, s++) {
        while (s < slot_count && slots[s].kind < tasks[t].kind)
            s++;
        if (s == slot_count || slots[s].kind != tasks[t].kind)
            return false;
        deals[t] = (struct deal){ tasks[t].index,  slots[s].index, tasks[t].kind,
                                  tasks[t].weight, slots[s].cost,  slots[s].tie };
    }
    return true;
}

static bool equal_weight(const struct deal *a, const struct deal *b)
{
    return a->kind == b->kind && a->weight == b->weight;
}

static bool equal_slot(const struct deal *a, const struct deal *b)
{
    return a->kind == b->kind && a->cost == b->cost && a->tie == b->tie;
}

static int by_slot(const void *a, const void *b)
{
    const struct deal *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->task < y->task ? -1 : 1;
}

static void exchange(struct deal *a, struct deal *b)
{
    struct deal old = *a;
    a->slot = b->slot;
    a->cost = b->cost;
    a->tie = b->tie;
    b->slot = old.slot;
    b->cost = old.cost;
    b->tie = old.tie;
}

/* Inside each run of deals that are equal, tasks may exchange slots at no cost: whoever was dealt
 * another's own slot gives it back, so that nobody moves without need. `at` is scratch: where a
 * slot is dealt. */
static void give_back(const struct nuioa_problem *p, struct deal *deals, uint32_t count,
                      bool (*equal)(const struct deal *, const struct deal *), uint32_t *at)
{
    for (uint32_t s = 0; s < p->slot_count; s++)
        at[s] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        at[deals[i].slot] = i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = p->start[deals[i].task], holder = at[own];
        if (holder == UINT32_MAX || holder == i || !equal(&deals[holder], &deals[i]))
            continue;
        exchange(&deals[i], &deals[holder]);
        at[deals[i].slot] = i;
        at[deals[holder].slot] = holder;
    }
}

static int hopsort(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    bool *taken = calloc(p->slot_count, sizeof(*taken));
    struct candidate *tasks = malloc(p->task_count * sizeof(*tasks));
    struct candidate *slots = malloc(p->slot_count * sizeof(*slots));
    struct deal *deals = malloc(p->task_count * sizeof(*deals));
    uint32_t *at = malloc(p->slot_count * sizeof(*at));
    int rc = -ENOMEM;
    if (!taken || !tasks || !slots || !deals || !at)
        goto out;

    for (uint32_t i = 0; i < p->task_count; i++)
        if (p->pinned && p->pinned[i]) {
            slot_of[i] = p->start[i];
            taken[p->start[i]] = true;
        }
    uint32_t task_count = list_tasks(p, tasks);
    uint32_t slot_count = list_slots(p, taken, slots);
    rc = -EINVAL;
    if (!deal_out(tasks, task_count, slots, slot_count, deals))
        goto out;
    give_back(p, deals, task_count, equal_weight, at);
    qsort(deals, task_count, sizeof(*deals), by_slot);
    give_back(p, deals, task_count, equal_slot, at);
    for (uint32_t i = 0; i < task_count; i++)
        slot_of[deals[i].task] = deals[i].slot;
    budget->evaluations += task_count;
    rc = 0;
out:
    free(taken);
    free(tasks);
    free(slots);
    free(deals);
    free(at);
    return rc;
}

const struct nuioa_mapper nuioa_hopsort = { "hopsort", hopsort };
