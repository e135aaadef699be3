/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "mapping/search.h"

/* Single tasks, while that lowers J. Most have no partner to swap with: for each pair of classes a
 * bound on what anybody gains by changing from one to the other tells so without looking at every
 * pair of tasks. */

struct descent {
    struct nuioa_class_assignment *assignment;
    bool *stale;   /* [count]: it or a neighbour moved since it was looked at */
    double *leave; /* [class_count * class_count]: nobody in one gains more by going to the other */
    bool *open;    /* [class_count]: may hold a partner */
};

/* Bounds only rise as tasks move: no swap is missed, and few are tried in vain. */
static void raise_bounds(struct descent *d, uint32_t i)
{
    const struct nuioa_class_assignment *s = d->assignment;
    uint32_t classes = s->graph->class_count;
    const double *price = nuioa_prices(s, i);
    double here = price[s->at[i]], *bound = d->leave + (size_t)s->at[i] * classes;
    for (uint32_t c = 0; c < classes; c++)
        bound[c] = bound[c] > here - price[c] ? bound[c] : here - price[c];
}

static void bound_all(struct descent *d)
{
    const struct nuioa_graph *g = d->assignment->graph;
    for (size_t k = 0; k < (size_t)g->class_count * g->class_count; k++)
        d->leave[k] = -INFINITY;
    for (uint32_t i = 0; i < g->count; i++)
        raise_bounds(d, i);
}

/* i has moved. */
static void follow(struct descent *d, uint32_t i)
{
    const struct nuioa_graph *g = d->assignment->graph;
    d->stale[i] = true;
    raise_bounds(d, i);
    for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++) {
        d->stale[g->peer[e]] = true;
        raise_bounds(d, g->peer[e]);
    }
}

static bool try_moves(struct descent *d, uint32_t i)
{
    struct nuioa_class_assignment *s = d->assignment;
    const struct nuioa_graph *g = s->graph;
    const double *price = nuioa_prices(s, i);
    uint32_t best = s->at[i];
    for (uint32_t c = 0; c < g->class_count; c++)
        if (s->free_slots[c] && g->classes[c].kind == g->kind[i] && price[c] < price[best])
            best = c;
    if (price[s->at[i]] - price[best] <= nuioa_worth(s))
        return false;
    nuioa_class_assignment_move(s, i, best);
    follow(d, i);
    return true;
}

/* Marks the classes where i could find a partner; false if there is none. */
static bool open_classes(struct descent *d, uint32_t i)
{
    const struct nuioa_class_assignment *s = d->assignment;
    const struct nuioa_graph *g = s->graph;
    uint32_t a = s->at[i];
    const double *price = nuioa_prices(s, i), *da = nuioa_distances(g, a);
    bool any = false;
    for (uint32_t b = 0; b < g->class_count; b++) {
        double gain = price[a] - price[b] + d->leave[(size_t)b * g->class_count + a];
        /* Where two tasks that talk would gain by changing places, the bound says nothing. */
        bool closer = 2 * da[b] < da[a] + nuioa_distances(g, b)[b];
        d->open[b] =
            b != a && g->classes[b].kind == g->kind[i] && (closer || gain > nuioa_worth(s));
        any |= d->open[b];
    }
    return any;
}

/* The best partner for i, or i. */
static uint32_t best_swap(const struct descent *d, uint32_t i)
{
    const struct nuioa_class_assignment *s = d->assignment;
    double best_gain = nuioa_worth(s);
    uint32_t best = i;
    for (uint32_t j = 0; j < s->graph->count; j++) {
        if (!d->open[s->at[j]])
            continue;
        double gain = nuioa_swap_gain(s, i, j, best_gain);
        if (gain > best_gain) {
            best_gain = gain;
            best = j;
        }
    }
    return best;
}

static bool try_swaps(struct descent *d, uint32_t i, struct nuioa_budget *budget)
{
    if (!open_classes(d, i))
        return false;
    budget->evaluations += d->assignment->graph->count / 2;
    uint32_t j = best_swap(d, i);
    if (j == i)
        return false;
    nuioa_class_assignment_swap(d->assignment, i, j);
    follow(d, i);
    follow(d, j);
    return true;
}

static void descend(struct descent *d, struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = d->assignment->graph;
    uint64_t effort = nuioa_change_effort(g);
    for (bool better = true; better;) {
        better = false;
        bound_all(d);
        budget->evaluations += (uint64_t)g->count * g->class_count / 8;
        for (uint32_t i = 0; i < g->count; i++) {
            if (!d->stale[i])
                continue;
            d->stale[i] = false;
            if (!nuioa_spend(budget, 2 + g->class_count / 4))
                return;
            bool moved = try_moves(d, i), swapped = try_swaps(d, i, budget);
            budget->evaluations += (moved ? effort : 0) + (swapped ? 2 * effort : 0);
            better |= moved || swapped;
        }
    }
}

int nuioa_descend(struct nuioa_class_assignment *s, struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = s->graph;
    struct nuioa_arena scratch = { 0 };
    size_t classes = g->class_count;
    struct descent d = { s, nuioa_arena_take(&scratch, g->count, sizeof(*d.stale)),
                         nuioa_arena_take(&scratch, classes * classes, sizeof(*d.leave)),
                         nuioa_arena_take(&scratch, classes, sizeof(*d.open)) };
    if (!scratch.failed) {
        memset(d.stale, true, g->count);
        descend(&d, budget);
    }
    int rc = scratch.failed ? -ENOMEM : 0;
    nuioa_arena_free(&scratch);
    return rc;
}
