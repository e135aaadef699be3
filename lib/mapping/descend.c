/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/descend.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Most tasks have no partner for a swap that lowers J. For each pair of classes there is an upper
 * bound on the gain of any task that moves from one to the other; it rules out most partners
 * without a look at every pair of tasks. */

struct descent {
    struct nuioa_class_assignment *assignment;
    bool *stale;    /* [count]: the task or a neighbour moved since it was examined */
    double *bound;  /* [class_count * class_count]: no task of the first class gains more by moving
                       to the second */
    bool *possible; /* [class_count]: the class may contain a partner */
};

/* Bounds only rise as tasks move, so no swap is missed. */
static void raise_bounds(struct descent *d, uint32_t i)
{
    const struct nuioa_class_assignment *s = d->assignment;
    uint32_t classes = s->graph->class_count;
    const double *price = nuioa_prices(s, i);
    double here = price[s->at[i]], *bound = d->bound + (size_t)s->at[i] * classes;
    for (uint32_t c = 0; c < classes; c++)
        bound[c] = bound[c] > here - price[c] ? bound[c] : here - price[c];
}

static void bound_all(struct descent *d)
{
    const struct nuioa_graph *g = d->assignment->graph;
    for (size_t k = 0; k < (size_t)g->class_count * g->class_count; k++)
        d->bound[k] = -INFINITY;
    for (uint32_t i = 0; i < g->count; i++)
        raise_bounds(d, i);
}

/* Updates stale marks and bounds after i has moved. */
static void update(struct descent *d, uint32_t i)
{
    const struct nuioa_graph *g = d->assignment->graph;
    d->stale[i] = true;
    raise_bounds(d, i);
    for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++) {
        d->stale[g->peer[e]] = true;
        raise_bounds(d, g->peer[e]);
    }
}

/* Moves i to the free slot where it costs least, if J falls. */
static bool try_moves(struct descent *d, uint32_t i)
{
    struct nuioa_class_assignment *s = d->assignment;
    const struct nuioa_graph *g = s->graph;
    const double *price = nuioa_prices(s, i);
    uint32_t best = s->at[i];
    for (uint32_t c = 0; c < g->class_count; c++)
        if (s->free_slots[c] && g->classes[c].kind == g->kind[i] && price[c] < price[best])
            best = c;
    if (price[s->at[i]] - price[best] <= nuioa_least_gain(s))
        return false;
    nuioa_class_assignment_move(s, i, best);
    update(d, i);
    return true;
}

/* Marks the classes that may contain a partner for i; returns false if there is none. */
static bool mark_classes(struct descent *d, uint32_t i)
{
    const struct nuioa_class_assignment *s = d->assignment;
    const struct nuioa_graph *g = s->graph;
    uint32_t a = s->at[i];
    const double *price = nuioa_prices(s, i), *da = nuioa_distances(g, a);
    bool any = false;
    for (uint32_t b = 0; b < g->class_count; b++) {
        double gain = price[a] - price[b] + d->bound[(size_t)b * g->class_count + a];
        /* The bound does not hold if the swap brings two communicating tasks nearer together. */
        bool closer = 2 * da[b] < da[a] + nuioa_distances(g, b)[b];
        d->possible[b] =
            b != a && g->classes[b].kind == g->kind[i] && (closer || gain > nuioa_least_gain(s));
        any |= d->possible[b];
    }
    return any;
}

/* Returns the best partner for i, or i if there is none. */
static uint32_t best_swap(const struct descent *d, uint32_t i)
{
    const struct nuioa_class_assignment *s = d->assignment;
    double best_gain = nuioa_least_gain(s);
    uint32_t best = i;
    for (uint32_t j = 0; j < s->graph->count; j++) {
        if (!d->possible[s->at[j]])
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
    if (!mark_classes(d, i))
        return false;
    budget->evaluations += d->assignment->graph->count / 2;
    uint32_t j = best_swap(d, i);
    if (j == i)
        return false;
    nuioa_class_assignment_swap(d->assignment, i, j);
    update(d, i);
    update(d, j);
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
                         nuioa_arena_take(&scratch, classes * classes, sizeof(*d.bound)),
                         nuioa_arena_take(&scratch, classes, sizeof(*d.possible)) };
    if (!scratch.failed) {
        memset(d.stale, true, g->count);
        descend(&d, budget);
    }
    int rc = scratch.failed ? -ENOMEM : 0;
    nuioa_arena_free(&scratch);
    return rc;
}
