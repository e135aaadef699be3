/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/hopsort.h"

#include <errno.h>
#include <stdlib.h>

#include "util/arena.h"

struct place {
    uint32_t slot;
    double cost; /* its nic_cost */
    uint32_t tie;
};

/* A task with its start slot, then with the slot that it gets; or a free slot. */
struct match {
    uint32_t task;
    uint32_t kind;
    double weight; /* 0 for a free slot, and once weights no longer count */
    struct place place;
};

/* Sorts by kind, by descending weight, and by ascending cost. Tasks of equal weight are in the
 * order of their start slots, so that those that are near already stay there. */
static int by_rank(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->place.cost != y->place.cost)
        return x->place.cost < y->place.cost ? -1 : 1;
    if (x->place.tie != y->place.tie)
        return x->place.tie < y->place.tie ? -1 : 1;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return x->place.slot < y->place.slot ? -1 : 1;
}

static struct place place_of(const struct nuioa_problem *p, uint32_t slot)
{
    return (struct place){ slot, p->nic_cost[slot], p->tie[slot] };
}

static uint32_t list_tasks(const struct nuioa_problem *p, struct match *tasks)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->task_count; i++)
        if (!p->pinned || !p->pinned[i])
            tasks[count++] =
                (struct match){ i, p->task_kind[i], p->weight[i], place_of(p, p->start[i]) };
    qsort(tasks, count, sizeof(*tasks), by_rank);
    return count;
}

static uint32_t list_slots(const struct nuioa_problem *p, const bool *taken, struct match *slots)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < p->slot_count; s++)
        if (!taken[s])
            slots[count++] = (struct match){ 0, p->kind[s], 0, place_of(p, s) };
    qsort(slots, count, sizeof(*slots), by_rank);
    return count;
}

/* Gives slots to tasks kind by kind; returns false if a kind has more tasks than slots. */
static bool match_all(struct match *tasks, uint32_t task_count, const struct match *slots,
                      uint32_t slot_count)
{
    uint32_t s = 0;
    for (uint32_t t = 0; t < task_count; t++, s++) {
        while (s < slot_count && slots[s].kind < tasks[t].kind)
            s++;
        if (s == slot_count || slots[s].kind != tasks[t].kind)
            return false;
        tasks[t].place = slots[s].place;
    }
    return true;
}

static bool equal_weight(const struct match *a, const struct match *b)
{
    return a->kind == b->kind && a->weight == b->weight;
}

static bool equal_slot(const struct match *a, const struct match *b)
{
    return a->kind == b->kind && a->place.cost == b->place.cost && a->place.tie == b->place.tie;
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
        at[matches[i].place.slot] = i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = p->start[matches[i].task], holder = at[own];
        if (holder == UINT32_MAX || holder == i || !equal(&matches[holder], &matches[i]))
            continue;
        struct place other = matches[i].place;
        matches[i].place = matches[holder].place;
        matches[holder].place = other;
        at[own] = i;
        at[other.slot] = holder;
    }
}

static int hopsort(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    struct nuioa_arena arena = { 0 };
    bool *taken = nuioa_arena_take(&arena, p->slot_count, sizeof(*taken));
    struct match *tasks = nuioa_arena_take(&arena, p->task_count, sizeof(*tasks));
    struct match *slots = nuioa_arena_take(&arena, p->slot_count, sizeof(*slots));
    uint32_t *at = nuioa_arena_take(&arena, p->slot_count, sizeof(*at));
    int rc = -ENOMEM;
    if (arena.failed)
        goto out;

    for (uint32_t i = 0; i < p->task_count; i++)
        if (p->pinned && p->pinned[i]) {
            slot_of[i] = p->start[i];
            taken[p->start[i]] = true;
        }
    uint32_t task_count = list_tasks(p, tasks);
    uint32_t slot_count = list_slots(p, taken, slots);
    rc = -EINVAL;
    if (!match_all(tasks, task_count, slots, slot_count))
        goto out;
    restore_start(p, tasks, task_count, equal_weight, at);
    for (uint32_t i = 0; i < task_count; i++)
        tasks[i].weight = 0;
    qsort(tasks, task_count, sizeof(*tasks), by_rank);
    restore_start(p, tasks, task_count, equal_slot, at);
    for (uint32_t i = 0; i < task_count; i++)
        slot_of[tasks[i].task] = tasks[i].place.slot;
    budget->evaluations += task_count;
    rc = 0;
out:
    nuioa_arena_free(&arena);
    return rc;
}

const struct nuioa_mapper nuioa_hopsort = { "hopsort", hopsort };
