/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/load_first.h"

#include <errno.h>
#include <stdlib.h>

#include "mapping/load.h"
#include "util/arena.h"

#define NOBODY UINT32_MAX

/* The classes of slots, with a list of the free slots of each. */
struct free_slots {
    uint32_t count;
    uint32_t *class_of; /* [slots] */
    uint32_t *first;    /* [count]: a slot of each class */
    uint32_t *head;     /* [count]: a free slot or NOBODY */
    uint32_t *next;     /* [slots]: the free slot after each */
};

static void list_free(struct free_slots *f, const struct nuioa_problem *p, const bool *taken)
{
    f->count = nuioa_number_classes(p, f->class_of, f->first);
    for (uint32_t k = 0; k < f->count; k++)
        f->head[k] = NOBODY;
    for (uint32_t s = p->slot_count; s-- > 0;)
        if (!taken[s]) {
            f->next[s] = f->head[f->class_of[s]];
            f->head[f->class_of[s]] = s;
        }
}

/* Returns what the task would pay in this slot, if the loads did not change any more. */
static double price_in(const struct nuioa_problem *p, const double *load, uint32_t task,
                       uint32_t slot)
{
    const struct nuioa_load *l = p->load;
    uint32_t c = nuioa_load_choose(l, load, l->near[slot], l->weight[task]);
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
        if (f->head[k] == NOBODY || p->kind[f->first[k]] != p->task_kind[task])
            continue;
        double here = price_in(p, load, task, f->first[k]);
        if (best == NOBODY || here < least ||
            (here <= least && p->tie[f->first[k]] < p->tie[f->first[best]])) {
            best = k;
            least = here;
        }
    }
    if (best == NOBODY)
        return NOBODY;
    uint32_t slot = f->head[best];
    f->head[best] = f->next[slot];
    return slot;
}

static void add_load(const struct nuioa_load *l, double *load, uint32_t task, uint32_t slot)
{
    uint32_t c = nuioa_load_choose(l, load, l->near[slot], l->weight[task]);
    load[c] += l->weight[task] / l->part[c];
}

static int load_first(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    struct nuioa_arena arena = { 0 };
    struct free_slots f = { .class_of = nuioa_arena_take(&arena, p->slot_count, sizeof(uint32_t)),
                            .first = nuioa_arena_take(&arena, p->slot_count, sizeof(uint32_t)),
                            .head = nuioa_arena_take(&arena, p->slot_count, sizeof(uint32_t)),
                            .next = nuioa_arena_take(&arena, p->slot_count, sizeof(uint32_t)) };
    bool *taken = nuioa_arena_take(&arena, p->slot_count, sizeof(*taken));
    double load[NUIOA_CARDS_MAX];
    int rc = !p->load ? -EINVAL : arena.failed ? -ENOMEM : 0;
    for (uint32_t c = 0; rc == 0 && c < p->load->card_count; c++)
        load[c] = p->load->fixed[c] / p->load->part[c];
    for (uint32_t i = 0; rc == 0 && p->pinned && i < p->task_count; i++)
        if (p->pinned[i]) {
            slot_of[i] = p->start[i];
            taken[slot_of[i]] = true;
            add_load(p->load, load, i, slot_of[i]);
        }
    if (rc == 0)
        list_free(&f, p, taken);
    for (uint32_t k = 0; rc == 0 && k < p->task_count; k++) {
        uint32_t i = p->load->order[k];
        if (p->pinned && p->pinned[i])
            continue;
        budget->evaluations += f.count;
        slot_of[i] = take_cheapest(&f, p, load, i);
        if (slot_of[i] == NOBODY)
            rc = -EINVAL;
        else
            add_load(p->load, load, i, slot_of[i]);
    }
    nuioa_arena_free(&arena);
    return rc;
}

const struct nuioa_mapper nuioa_load_first = { "rails", load_first };
