/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/local_search.h"

#include <errno.h>
#include <string.h>

#include "mapping/descend.h"
#include "mapping/random.h"

/* --- whole classes --- */

/* The tasks of each class are a group; only whole groups move. */
struct groups {
    uint32_t count; /* class_count */
    uint32_t *at;   /* [count]: class of the group */
    double
        *bytes; /* [count * count]: between groups; the diagonal counts each pair of tasks once */
    double *linear; /* [count * count]: linear cost of a group in a class */
};

static void collect(const struct nuioa_class_assignment *s, struct groups *groups)
{
    const struct nuioa_graph *g = s->graph;
    uint32_t n = groups->count;
    for (uint32_t c = 0; c < n; c++)
        groups->at[c] = c;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t a = s->at[i];
        for (uint32_t c = 0; c < n; c++)
            groups->linear[(size_t)a * n + c] += g->linear[(size_t)i * n + c];
        for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++)
            groups->bytes[(size_t)a * n + s->at[g->peer[e]]] +=
                s->at[g->peer[e]] == a ? g->bytes[e] / 2 : g->bytes[e];
    }
}

/* Returns by how much J falls if groups x and y are exchanged. */
static double group_gain(const struct nuioa_graph *g, const struct groups *groups, uint32_t x,
                         uint32_t y)
{
    uint32_t n = groups->count, a = groups->at[x], b = groups->at[y];
    const double *da = nuioa_distances(g, a), *db = nuioa_distances(g, b);
    const double *bx = groups->bytes + (size_t)x * n, *by = groups->bytes + (size_t)y * n;
    const double *lx = groups->linear + (size_t)x * n, *ly = groups->linear + (size_t)y * n;
    double gain = lx[a] - lx[b] + ly[b] - ly[a] + (bx[x] - by[y]) * (da[a] - db[b]);
    for (uint32_t z = 0; z < n; z++)
        if (z != x && z != y)
            gain += (bx[z] - by[z]) * (da[groups->at[z]] - db[groups->at[z]]);
    return gain;
}

static bool alike(const struct nuioa_graph *g, uint32_t a, uint32_t b)
{
    return g->classes[a].kind == g->classes[b].kind && g->classes[a].slots == g->classes[b].slots;
}

static double exchange(const struct nuioa_graph *g, struct groups *groups, uint32_t x, uint32_t y)
{
    double gain = group_gain(g, groups, x, y);
    uint32_t c = groups->at[x];
    groups->at[x] = groups->at[y];
    groups->at[y] = c;
    return gain;
}

/* Exchanges groups while that lowers J. Returns by how much J fell. */
static double exchange_groups(const struct nuioa_class_assignment *s, struct groups *groups,
                              struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = s->graph;
    double sum = 0;
    for (bool better = true; better;) {
        better = false;
        for (uint32_t x = 0; x < groups->count; x++)
            for (uint32_t y = x + 1; y < groups->count; y++) {
                if (!alike(g, x, y))
                    continue;
                if (!nuioa_spend(budget, 1 + groups->count / 8))
                    return sum;
                if (group_gain(g, groups, x, y) <= nuioa_least_gain(s))
                    continue;
                sum += exchange(g, groups, x, y);
                better = true;
            }
    }
    return sum;
}

/* One kick: exchanges three random pairs of groups, improves, and keeps the result if J is lower.
 * Returns by how much J fell. best[] is scratch. */
static double kick_groups(const struct nuioa_class_assignment *s, struct groups *groups,
                          uint32_t *best, struct nuioa_random *random, struct nuioa_budget *budget)
{
    size_t bytes = groups->count * sizeof(*best);
    double sum = 0;
    memcpy(best, groups->at, bytes);
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t x = nuioa_random_below(random, groups->count);
        uint32_t y = nuioa_random_below(random, groups->count);
        if (x != y && alike(s->graph, x, y))
            sum += exchange(s->graph, groups, x, y);
    }
    sum += exchange_groups(s, groups, budget);
    if (sum > nuioa_least_gain(s))
        return sum;
    memcpy(groups->at, best, bytes);
    return 0;
}

/* Returns a number of kicks that costs little compared with swaps of single tasks. */
static uint32_t cheap_kicks(uint32_t classes)
{
    return classes <= 3 || classes > 16 ? 0 : classes <= 8 ? 32 : 4;
}

static int swap_classes(struct nuioa_class_assignment *s, uint32_t kicks,
                        struct nuioa_budget *budget)
{
    uint32_t n = s->graph->class_count;
    struct nuioa_arena scratch = { 0 };
    struct nuioa_random random = { 88172645463325252 };
    struct groups groups = { n, nuioa_arena_take(&scratch, n, sizeof(uint32_t)),
                             nuioa_arena_take(&scratch, (size_t)n * n, sizeof(double)),
                             nuioa_arena_take(&scratch, (size_t)n * n, sizeof(double)) };
    uint32_t *best = nuioa_arena_take(&scratch, n, sizeof(*best));
    int rc = scratch.failed ? -ENOMEM : 0;
    if (!rc) {
        collect(s, &groups);
        double gain = exchange_groups(s, &groups, budget);
        for (uint32_t k = 0; k < kicks && budget->evaluations < budget->limit; k++)
            gain += kick_groups(s, &groups, best, &random, budget);
        if (gain > 0) {
            for (uint32_t i = 0; i < s->graph->count; i++)
                s->at[i] = groups.at[s->at[i]];
            nuioa_assign_all(s);
        }
    }
    nuioa_arena_free(&scratch);
    return rc;
}

/* --- all searches --- */

/* Measured: descent lowers J by 5 % at the most. */
#define DESCENT_MARGIN 1.05

int nuioa_local_search(struct nuioa_class_assignment *s, bool kicks, double best,
                       struct nuioa_budget *budget)
{
    int rc = swap_classes(s, kicks ? cheap_kicks(s->graph->class_count) : 0, budget);
    return rc || s->cost > best * DESCENT_MARGIN ? rc : nuioa_descend(s, budget);
}
