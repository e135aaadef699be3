#include "search.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Below this a gain is rounding, and taking it could go in circles. */
static double worth(const struct nuioa_seating *s)
{
    return 1e-9 * fabs(s->cost);
}

static bool spend(struct nuioa_budget *budget, uint64_t evaluations)
{
    budget->evaluations += evaluations;
    return budget->evaluations < budget->limit;
}

/* --- whole classes --- */

/* Tasks as groups, one for each class at the start; only groups move. */
struct groups {
    uint32_t count;   /* class_count */
    uint32_t *at;     /* [count]: class where the group is now */
    double *bytes;    /* [count * count]: between groups; the diagonal counts a pair once */
    double *linear;   /* [count * count]: of a group in a class */
};

static void collect(const struct nuioa_seating *s, struct groups *groups)
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
    return g->classes[a].kind == g->classes[b].kind && g->classes[a].seats == g->classes[b].seats;
}

static double exchange(const struct nuioa_graph *g, struct groups *groups, uint32_t x, uint32_t y)
{
    double gain = group_gain(g, groups, x, y);
    uint32_t c = groups->at[x];
    groups->at[x] = groups->at[y];
    groups->at[y] = c;
    return gain;
}

/* Returns by how much J fell. */
static double exchange_groups(const struct nuioa_seating *s, struct groups *groups,
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
                if (!spend(budget, 1 + groups->count / 8))
                    return sum;
                if (group_gain(g, groups, x, y) <= worth(s))
                    continue;
                sum += exchange(g, groups, x, y);
                better = true;
            }
    }
    return sum;
}

/* Three or four groups change places at random, the rest follows; kept if J is lower in the end. */
static double kick_groups(const struct nuioa_seating *s, struct groups *groups, uint32_t *best,
                          struct nuioa_random *random, struct nuioa_budget *budget)
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
    if (sum > worth(s))
        return sum;
    memcpy(groups->at, best, bytes);
    return 0;
}

int nuioa_swap_classes(struct nuioa_seating *s, uint32_t kicks, struct nuioa_budget *budget)
{
    uint32_t n = s->graph->class_count;
    struct nuioa_arena scratch = {0};
    struct nuioa_random random = {88172645463325252};
    struct groups groups = {n, nuioa_arena_take(&scratch, n, sizeof(uint32_t)),
                            nuioa_arena_take(&scratch, (size_t)n * n, sizeof(double)),
                            nuioa_arena_take(&scratch, (size_t)n * n, sizeof(double))};
    uint32_t *best = nuioa_arena_take(&scratch, n, sizeof(*best));
    int rc = scratch.failed ? -ENOMEM : 0;
    if (!rc) {
        collect(s, &groups);
        double gain = exchange_groups(s, &groups, budget);
        for (uint32_t k = 0; n > 3 && k < kicks && budget->evaluations < budget->limit; k++)
            gain += kick_groups(s, &groups, best, &random, budget);
        if (gain > 0) {
            for (uint32_t i = 0; i < s->graph->count; i++)
                s->at[i] = groups.at[s->at[i]];
            nuioa_seat_all(s, s->at);
        }
    }
    nuioa_arena_free(&scratch);
    return rc;
}

/* --- single tasks --- */

/* A task is looked at again only after it or a neighbour moved: `stale` says who. */
static void mark(const struct nuioa_graph *g, bool *stale, uint32_t i)
{
    stale[i] = true;
    for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++)
        stale[g->peer[e]] = true;
}

static bool try_moves(struct nuioa_seating *s, uint32_t i)
{
    const struct nuioa_graph *g = s->graph;
    const double *price = nuioa_prices(s, i);
    uint32_t best = s->at[i];
    for (uint32_t c = 0; c < g->class_count; c++)
        if (s->room[c] && g->classes[c].kind == g->kind[i] && price[c] < price[best])
            best = c;
    if (price[s->at[i]] - price[best] <= worth(s))
        return false;
    nuioa_seating_move(s, i, best);
    return true;
}

/* The best partner for i, or i. */
static uint32_t best_swap(const struct nuioa_seating *s, uint32_t i)
{
    const struct nuioa_graph *g = s->graph;
    double best_gain = worth(s);
    uint32_t best = i;
    for (uint32_t j = 0; j < g->count; j++) {
        if (s->at[j] == s->at[i] || g->kind[j] != g->kind[i])
            continue;
        double gain = nuioa_swap_gain(s, i, j, best_gain);
        if (gain > best_gain) {
            best_gain = gain;
            best = j;
        }
    }
    return best;
}

int nuioa_descend(struct nuioa_seating *s, struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = s->graph;
    struct nuioa_arena scratch = {0};
    bool *stale = nuioa_arena_take(&scratch, g->count, sizeof(*stale));
    if (!stale)
        return -ENOMEM;
    memset(stale, true, g->count);
    uint64_t effort = nuioa_change_effort(g);
    for (bool better = true; better;) {
        better = false;
        for (uint32_t i = 0; i < g->count; i++) {
            if (!stale[i])
                continue;
            stale[i] = false;
            if (!spend(budget, g->count))
                goto out;
            if (try_moves(s, i)) {
                mark(g, stale, i);
                budget->evaluations += effort;
                better = true;
            }
            uint32_t j = best_swap(s, i);
            if (j == i)
                continue;
            nuioa_seating_swap(s, i, j);
            mark(g, stale, i);
            mark(g, stale, j);
            budget->evaluations += 2 * effort;
            better = true;
        }
    }
out:
    nuioa_arena_free(&scratch);
    return 0;
}
