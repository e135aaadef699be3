/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/class_assignment.h"

#include <errno.h>
#include <math.h>
#include <string.h>

int nuioa_class_assignment_open(struct nuioa_class_assignment *s, const struct nuioa_graph *g)
{
    memset(s, 0, sizeof(*s));
    s->graph = g;
    s->at = nuioa_arena_take(&s->arena, g->count, sizeof(*s->at));
    s->free_slots = nuioa_arena_take(&s->arena, g->class_count, sizeof(*s->free_slots));
    s->price = nuioa_arena_take(&s->arena, (size_t)g->count * g->class_count, sizeof(*s->price));
    return s->arena.failed ? -ENOMEM : 0;
}

void nuioa_class_assignment_close(struct nuioa_class_assignment *s)
{
    nuioa_arena_free(&s->arena);
}

static void add_scaled(double *restrict to, const double *restrict from, double scale,
                       uint32_t count)
{
    for (uint32_t c = 0; c < count; c++)
        to[c] += scale * from[c];
}

void nuioa_assign_all(struct nuioa_class_assignment *s)
{
    const struct nuioa_graph *g = s->graph;
    uint32_t classes = g->class_count;
    for (uint32_t c = 0; c < classes; c++)
        s->free_slots[c] = g->classes[c].slots;
    memcpy(s->price, g->linear, (size_t)g->count * classes * sizeof(*s->price));
    s->cost = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        double *price = s->price + (size_t)i * classes;
        double linear = price[s->at[i]];
        s->free_slots[s->at[i]]--;
        for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++)
            add_scaled(price, nuioa_distances(g, s->at[g->peer[e]]), g->bytes[e], classes);
        s->cost += (linear + price[s->at[i]]) / 2;
    }
}

void nuioa_assign_slots(struct nuioa_class_assignment *s, const uint32_t *slot_of)
{
    for (uint32_t i = 0; i < s->graph->count; i++)
        s->at[i] = s->graph->class_of[slot_of[s->graph->task[i]]];
    nuioa_assign_all(s);
}

/* Makes a linked list of the free slots of each class, those with the lowest tie value first.
 * head[class_count] is the first slot of each class, next[slot_count] is the slot after each slot,
 * and UINT32_MAX ends a list. A slot is not free if taken[slot_count] is true for it or a pinned
 * task has it. */
static void list_free_slots(const struct nuioa_problem *p, const bool *taken, uint32_t *head,
                            uint32_t *next)
{
    const struct nuioa_graph *g = p->graph;
    for (uint32_t c = 0; c < g->class_count; c++)
        head[c] = UINT32_MAX;
    for (uint32_t s = p->slot_count; s-- > 0;) {
        uint32_t c = g->class_of[s];
        if (c == NUIOA_NO_CLASS || taken[s])
            continue;
        uint32_t *link = &head[c];
        while (*link != UINT32_MAX && p->tie[*link] < p->tie[s])
            link = &next[*link];
        next[s] = *link;
        *link = s;
    }
}

int nuioa_take_slots(const struct nuioa_problem *p, const uint32_t *at, uint32_t *slot_of)
{
    const struct nuioa_graph *g = p->graph;
    struct nuioa_arena scratch = { 0 };
    bool *taken = nuioa_arena_take(&scratch, p->slot_count, sizeof(*taken));
    uint32_t *head = nuioa_arena_take(&scratch, g->class_count, sizeof(*head));
    uint32_t *next = nuioa_arena_take(&scratch, p->slot_count, sizeof(*next));
    int rc = scratch.failed ? -ENOMEM : 0;
    if (rc)
        goto out;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->class_of[slot_of[g->task[i]]] == at[i])
            taken[slot_of[g->task[i]]] = true;
    list_free_slots(p, taken, head, next);
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->class_of[slot_of[g->task[i]]] == at[i])
            continue;
        slot_of[g->task[i]] = head[at[i]];
        head[at[i]] = next[head[at[i]]];
    }
out:
    nuioa_arena_free(&scratch);
    return rc;
}

/* Moves i to class b and updates the prices of its neighbours. */
static void relocate(struct nuioa_class_assignment *s, uint32_t i, uint32_t b)
{
    const struct nuioa_graph *g = s->graph;
    uint32_t classes = g->class_count;
    const double *restrict from = nuioa_distances(g, s->at[i]);
    const double *restrict to = nuioa_distances(g, b);
    for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++) {
        double *restrict price = s->price + (size_t)g->peer[e] * classes;
        double bytes = g->bytes[e];
        for (uint32_t c = 0; c < classes; c++)
            price[c] += bytes * (to[c] - from[c]);
    }
    s->at[i] = b;
}

void nuioa_class_assignment_swap(struct nuioa_class_assignment *s, uint32_t i, uint32_t j)
{
    uint32_t a = s->at[i], b = s->at[j];
    s->cost -= nuioa_swap_gain(s, i, j, -INFINITY);
    relocate(s, i, b);
    relocate(s, j, a);
}

void nuioa_class_assignment_move(struct nuioa_class_assignment *s, uint32_t i, uint32_t slot_class)
{
    const double *price = nuioa_prices(s, i);
    s->cost += price[slot_class] - price[s->at[i]];
    s->free_slots[s->at[i]]++;
    s->free_slots[slot_class]--;
    relocate(s, i, slot_class);
}

uint64_t nuioa_change_effort(const struct nuioa_graph *g)
{
    uint64_t degree = g->count ? g->row[g->count] / g->count : 0;
    return 1 + degree * g->class_count / 16;
}

double nuioa_bytes_between(const struct nuioa_graph *g, uint32_t i, uint32_t j)
{
    if (g->dense)
        return g->dense[(size_t)i * g->count + j];
    double bytes = 0;
    for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++)
        if (g->peer[e] == j)
            bytes += g->bytes[e];
    return bytes;
}
