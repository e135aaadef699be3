/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/anneal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "mapping/descend.h"

/* The thresholds are -log(u) for evenly spread u. A rise of J is accepted if it is below the
 * temperature times a random threshold: the same as exp(-rise/temperature) > u, but no exponential
 * is computed for each try. */
enum { THRESHOLDS = 1024 };

struct anneal {
    struct nuioa_class_assignment *assignment;
    struct nuioa_random *random;
    double thresholds[THRESHOLDS];
    uint32_t *best; /* [count] */
    double best_cost;
};

/* Draws two tasks at random; returns false if they cannot be swapped. */
static bool draw(const struct anneal *a, uint32_t *i, uint32_t *j)
{
    const struct nuioa_graph *g = a->assignment->graph;
    *i = nuioa_random_below(a->random, g->count);
    *j = nuioa_random_below(a->random, g->count);
    return a->assignment->at[*i] != a->assignment->at[*j] && g->kind[*i] == g->kind[*j];
}

/* Returns the mean change of J by a random swap. */
static double mean_change(const struct anneal *a)
{
    double sum = 0;
    uint32_t seen = 0;
    for (uint32_t k = 0; k < 256; k++) {
        uint32_t i, j;
        if (draw(a, &i, &j)) {
            sum += fabs(nuioa_swap_gain(a->assignment, i, j, -INFINITY));
            seen++;
        }
    }
    return seen ? sum / seen : 0;
}

/* Moves task i to a free slot of a random class if J rises by less than `limit`. */
static bool try_free_slot(struct anneal *a, uint32_t i, double limit)
{
    struct nuioa_class_assignment *s = a->assignment;
    const struct nuioa_graph *g = s->graph;
    uint32_t c = nuioa_random_below(a->random, g->class_count);
    if (!s->free_slots[c] || g->classes[c].kind != g->kind[i] || c == s->at[i])
        return false;
    const double *price = nuioa_prices(s, i);
    if (price[c] - price[s->at[i]] >= limit)
        return false;
    nuioa_class_assignment_move(s, i, c);
    return true;
}

static void keep_best(struct anneal *a)
{
    struct nuioa_class_assignment *s = a->assignment;
    if (s->cost >= a->best_cost - 1e-9 * fabs(a->best_cost))
        return;
    a->best_cost = s->cost;
    memcpy(a->best, s->at, s->graph->count * sizeof(*a->best));
}

static void cool(struct anneal *a, double heat, uint64_t steps, bool any_free,
                 struct nuioa_budget *budget)
{
    struct nuioa_class_assignment *s = a->assignment;
    uint64_t effort = nuioa_change_effort(s->graph);
    double start = heat * mean_change(a), temperature = start, floor = 1e-9 * fabs(s->cost);
    uint64_t begin = budget->evaluations, end = begin + steps;
    for (uint64_t k = 0; budget->evaluations < end && budget->evaluations < budget->limit; k++) {
        /* The temperature falls to a thousandth of the start. */
        if (!(k & 63))
            temperature = start * pow(1e-3, (double)(budget->evaluations - begin) / (double)steps);
        uint32_t i, j;
        double limit = temperature * a->thresholds[nuioa_random_below(a->random, THRESHOLDS)];
        budget->evaluations++;
        if (!draw(a, &i, &j))
            continue;
        bool moved = any_free && try_free_slot(a, i, limit);
        if (!moved) {
            double gain = nuioa_swap_gain(s, i, j, -limit);
            if (gain > -limit && fabs(gain) > floor) {
                nuioa_class_assignment_swap(s, i, j);
                moved = true;
            }
        }
        if (moved) {
            budget->evaluations += 2 * effort;
            keep_best(a);
        }
    }
}

int nuioa_anneal(struct nuioa_class_assignment *s, struct nuioa_random *random, double heat,
                 uint64_t steps, struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = s->graph;
    struct nuioa_arena scratch = { 0 };
    struct anneal *a = nuioa_arena_take(&scratch, 1, sizeof(*a));
    uint32_t *best = nuioa_arena_take(&scratch, g->count, sizeof(*best));
    if (scratch.failed) {
        nuioa_arena_free(&scratch);
        return -ENOMEM;
    }
    *a = (struct anneal){ .assignment = s, .random = random, .best = best, .best_cost = s->cost };
    memcpy(best, s->at, g->count * sizeof(*best));
    for (uint32_t k = 0; k < THRESHOLDS; k++)
        a->thresholds[k] = -log((k + 0.5) / THRESHOLDS);
    bool any_free = false;
    for (uint32_t c = 0; c < g->class_count; c++)
        any_free |= s->free_slots[c] > 0;
    if (g->count && steps)
        cool(a, heat, steps, any_free, budget);
    nuioa_assign_all(s, best);
    nuioa_arena_free(&scratch);
    return nuioa_descend(s, budget);
}
