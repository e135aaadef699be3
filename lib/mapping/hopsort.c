/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/hopsort.h"

#include <errno.h>
#include <stdlib.h>

struct candidate {
    uint32_t index; /* of a task or a slot */
    uint32_t kind;
    double weight; /* of a task; 0 for a slot */
    double cost;   /* nic_cost of the slot, or of the task's start slot */
    uint32_t tie;
};

/* Sorts by kind, by descending weight, and by ascending cost. Tasks of equal weight are in the
 * order of their start slots, so that those that are near already stay there. */
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

/* A task and the slot that it gets. */
struct match {
    uint32_t task, slot;
    uint32_t kind;
    double weight; /* of the task */
    double cost;   /* of the slot */
    uint32_t tie;
};

/* Gives slots to tasks kind by kind; returns false if a kind has more tasks than slots. */
static bool match_all(const struct candidate *tasks, uint32_t task_count,
                      const struct candidate *slots, uint32_t slot_count, struct match *matches)
{
    uint32_t s = 0;
    for (uint32_t t = 0; t < task_count; t++, s++) {
        while (s < slot_count && slots[s].kind < tasks[t].kind)
            s++;
        if (s == slot_count || slots[s].kind != tasks[t].kind)
            return false;
        matches[t] = (struct match){ tasks[t].index,  slots[s].index, tasks[t].kind,
                                     tasks[t].weight, slots[s].cost,  slots[s].tie };
    }
    return true;
}

static bool equal_weight(const struct match *a, const struct match *b)
{
    return a->kind == b->kind && a->weight == b->weight;
}

static bool equal_slot(const struct match *a, const struct match *b)
{
    return a->kind == b->kind && a->cost == b->cost && a->tie == b->tie;
}

static int by_slot(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->task < y->task ? -1 : 1;
}

static void exchange(struct match *a, struct match *b)
{
    struct match old = *a;
    a->slot = b->slot;
    a->cost = b->cost;
    a->tie = b->tie;
    b->slot = old.slot;
    b->cost = old.cost;
    b->tie = old.tie;
}

/* Matches that `equal` compares as equal may exchange slots at no cost. If the start slot of a task
 * went to an equal one, the two exchange slots, so that no task moves without need. at[slot_count]
 * is scratch: the index of each slot's match. */
static void restore_start(const struct nuioa_problem *p, struct match *matches, uint32_t count,
                          bool (*equal)(const struct match *, const struct match *), uint32_t *at)
{
    for (uint32_t s = 0; s < p->slot_count; s++)
        at[s] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        at[matches[i].slot] = i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = p->start[matches[i].task], holder = at[own];
        if (holder == UINT32_MAX || holder == i || !equal(&matches[holder], &matches[i]))
            continue;
        exchange(&matches[i], &matches[holder]);
        at[matches[i].slot] = i;
        at[matches[holder].slot] = holder;
    }
}

static int hopsort(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    bool *taken = calloc(p->slot_count, sizeof(*taken));
    struct candidate *tasks = malloc(p->task_count * sizeof(*tasks));
    struct candidate *slots = malloc(p->slot_count * sizeof(*slots));
    struct match *matches = malloc(p->task_count * sizeof(*matches));
    uint32_t *at = malloc(p->slot_count * sizeof(*at));
    int rc = -ENOMEM;
    if (!taken || !tasks || !slots || !matches || !at)
        goto out;

    for (uint32_t i = 0; i < p->task_count; i++)
        if (p->pinned && p->pinned[i]) {
            slot_of[i] = p->start[i];
            taken[p->start[i]] = true;
        }
    uint32_t task_count = list_tasks(p, tasks);
    uint32_t slot_count = list_slots(p, taken, slots);
    rc = -EINVAL;
    if (!match_all(tasks, task_count, slots, slot_count, matches))
        goto out;
    restore_start(p, matches, task_count, equal_weight, at);
    qsort(matches, task_count, sizeof(*matches), by_slot);
    restore_start(p, matches, task_count, equal_slot, at);
    for (uint32_t i = 0; i < task_count; i++)
        slot_of[matches[i].task] = matches[i].slot;
    budget->evaluations += task_count;
    rc = 0;
out:
    free(taken);
    free(tasks);
    free(slots);
    free(matches);
    free(at);
    return rc;
}

const struct nuioa_mapper nuioa_hopsort = { "hopsort", hopsort };
