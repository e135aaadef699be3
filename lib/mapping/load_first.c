/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/load_first.h"

#include <errno.h>
#include <stdlib.h>

#include "mapping/load.h"
#include "util/arena.h"

#define NOBODY UINT32_MAX

/* The classes of slots, and which slots are free. */
struct free_slots {
    uint32_t count;
    uint32_t *class_of; /* [slots] */
    uint32_t *first;    /* [count]: no slot before this one is free in the class */
    bool *taken;        /* [slots] */
};

/* Returns the first free slot of class k, or slot_count. */
static uint32_t first_free(struct free_slots *f, const struct nuioa_problem *p, uint32_t k)
{
    uint32_t *s = &f->first[k];
    while (*s < p->slot_count && (f->taken[*s] || f->class_of[*s] != k))
        ++*s;
    return *s;
}

/* Returns what the task would pay in this slot, if the loads did not change any more. */
static double price_in(const struct nuioa_problem *p, const double *load, uint32_t task,
                       uint32_t slot)
{
    const struct nuioa_load *l = p->load;
    uint32_t c = nuioa_load_choose(l, load, task, slot);
    return p->weight[task] * p->nic_cost[slot] +
           l->price * (load[c] + l->weight[task] / l->part[c]);
}

/* Takes the slot where the task pays least; NOBODY if no slot of its kind is free. */
static uint32_t take_cheapest(struct free_slots *f, const struct nuioa_problem *p,
                              const double *load, uint32_t task)
{
    uint32_t best = NOBODY;
    double least = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        uint32_t slot = first_free(f, p, k);
        if (slot == p->slot_count || p->kind[slot] != p->task_kind[task])
            continue;
        double here = price_in(p, load, task, slot);
        if (best == NOBODY || here < least || (here <= least && p->tie[slot] < p->tie[best])) {
            best = slot;
            least = here;
        }
    }
    if (best != NOBODY)
        f->taken[best] = true;
    return best;
}

static int load_first(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    struct nuioa_arena arena = { 0 };
    struct free_slots f = { .class_of = nuioa_arena_take(&arena, p->slot_count, sizeof(uint32_t)),
                            .first = nuioa_arena_take(&arena, p->slot_count, sizeof(uint32_t)),
                            .taken = nuioa_arena_take(&arena, p->slot_count, sizeof(bool)) };
    double load[NUIOA_CARDS_MAX];
    int rc = !p->load ? -EINVAL : arena.failed ? -ENOMEM : 0;
    for (uint32_t c = 0; rc == 0 && c < p->load->card_count; c++)
        load[c] = p->load->fixed[c] / p->load->part[c];
    for (uint32_t i = 0; rc == 0 && p->pinned && i < p->task_count; i++)
        if (p->pinned[i]) {
            slot_of[i] = p->start[i];
            f.taken[slot_of[i]] = true;
            nuioa_load_add(p->load, load, i, slot_of[i]);
        }
    if (rc == 0)
        f.count = nuioa_number_classes(p, f.class_of, f.first);
    for (uint32_t k = 0; rc == 0 && k < p->task_count; k++) {
        uint32_t i = p->load->order[k];
        if (p->pinned && p->pinned[i])
            continue;
        budget->evaluations += f.count;
        slot_of[i] = take_cheapest(&f, p, load, i);
        if (slot_of[i] == NOBODY)
            rc = -EINVAL;
        else
            nuioa_load_add(p->load, load, i, slot_of[i]);
    }
    nuioa_arena_free(&arena);
    return rc;
}

const struct nuioa_mapper nuioa_load_first = { "rails", load_first };
