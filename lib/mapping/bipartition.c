/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/bipartition.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "util/arena.h"

/* A pass ends after PATIENCE moves, and one for each 16 vertices, without a new best. */
enum { PATIENCE = 8 };

struct pass {
    struct nuioa_bipartition *cut;
    double *gain;   /* [count]: by how much the cost falls if the vertex moves */
    uint32_t *open; /* [open_count]: vertices that have not moved in this pass */
    uint32_t open_count;
    uint32_t *moved;   /* [count]: vertices in the order in which they moved */
    uint32_t *load[2]; /* [kind_count]: tasks on each side */
    uint32_t slack;    /* during a pass a side may exceed its limit by so many tasks */
    double cost;       /* each move updates it, like the gains */
};

/* Returns by how many tasks of a kind a side exceeds its limit. */
static uint32_t excess(const struct pass *p, uint32_t side, uint32_t kind)
{
    uint32_t load = p->load[side][kind], limit = p->cut->limit[side][kind];
    return load > limit ? load - limit : 0;
}

static uint32_t total_excess(const struct pass *p)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < p->cut->kind_count; k++)
        sum += excess(p, 0, k) + excess(p, 1, k);
    return sum;
}

/* Computes gains, loads and the cost from the sides. */
static void measure(struct pass *p)
{
    struct nuioa_bipartition *c = p->cut;
    memset(p->load[0], 0, c->kind_count * sizeof(uint32_t));
    memset(p->load[1], 0, c->kind_count * sizeof(uint32_t));
    p->slack = 1;
    p->cost = 0;
    for (uint32_t v = 0; v < c->count; v++) {
        double across = 0, within = 0;
        for (uint32_t e = c->row[v]; e < c->row[v + 1]; e++)
            *(c->side[c->peer[e]] != c->side[v] ? &across : &within) += c->bytes[e];
        p->gain[v] = across - within + (c->side[v] ? c->bias[v] : -c->bias[v]);
        p->cost += across / 2 + (c->side[v] ? c->bias[v] : 0);
        p->load[c->side[v]][c->kind[v]] += c->size[v];
        p->slack = c->size[v] > p->slack ? c->size[v] : p->slack;
    }
}

static void open_all(struct pass *p)
{
    p->open_count = p->cut->count;
    for (uint32_t v = 0; v < p->open_count; v++)
        p->open[v] = v;
}

/* Moves v to the other side. */
static void move(struct pass *p, uint32_t v)
{
    struct nuioa_bipartition *c = p->cut;
    uint8_t from = c->side[v];
    p->cost -= p->gain[v];
    for (uint32_t e = c->row[v]; e < c->row[v + 1]; e++)
        p->gain[c->peer[e]] += c->side[c->peer[e]] == from ? 2 * c->bytes[e] : -2 * c->bytes[e];
    p->gain[v] = -p->gain[v];
    p->load[from][c->kind[v]] -= c->size[v];
    p->load[!from][c->kind[v]] += c->size[v];
    c->side[v] = !from;
}

/* Finds a side that is too full of a kind. Then only these vertices may move, at any cost. */
static bool too_full(const struct pass *p, uint32_t *side, uint32_t *kind)
{
    for (*kind = 0; *kind < p->cut->kind_count; (*kind)++)
        for (*side = 0; *side < 2; (*side)++)
            if (excess(p, *side, *kind))
                return true;
    return false;
}

/* Returns the index into p->open of the vertex with the highest gain that may move, or
 * open_count. */
static uint32_t pick(const struct pass *p)
{
    const struct nuioa_bipartition *c = p->cut;
    uint32_t side = 0, kind = 0, best = p->open_count;
    bool full = too_full(p, &side, &kind);
    double best_gain = -DBL_MAX;
    for (uint32_t k = 0; k < p->open_count; k++) {
        uint32_t v = p->open[k];
        if (p->gain[v] <= best_gain)
            continue;
        if (full ? c->side[v] != side || c->kind[v] != kind
                 : p->load[!c->side[v]][c->kind[v]] + c->size[v] >
                       c->limit[!c->side[v]][c->kind[v]] + p->slack)
            continue;
        best_gain = p->gain[v];
        best = k;
    }
    return best;
}

/* Makes one pass: moves vertices, then takes back those after the best state. Returns true if the
 * sides are better than before. */
static bool run_pass(struct pass *p, struct nuioa_budget *budget)
{
    uint32_t least = total_excess(p), moved = 0, kept = 0;
    double sum = 0, best = 0, scale = 0;
    for (uint32_t v = 0; v < p->cut->count; v++)
        scale += fabs(p->gain[v]);
    double worth = 1e-9 * scale;
    uint32_t patience = PATIENCE + p->cut->count / 16;
    open_all(p);
    while (moved < p->cut->count && moved - kept <= patience) {
        budget->evaluations += p->open_count / 6 + 1;
        uint32_t k = pick(p);
        /* A side that is too full is corrected even when the budget is used up. */
        if (k == p->open_count || (!least && budget->evaluations >= budget->limit))
            break;
        uint32_t v = p->open[k];
        p->open[k] = p->open[--p->open_count];
        budget->evaluations += (p->cut->row[v + 1] - p->cut->row[v]) / 4;
        sum += p->gain[v];
        move(p, v);
        p->moved[moved++] = v;
        uint32_t now = total_excess(p);
        if (now < least || (now == least && sum > best + worth)) {
            least = now;
            best = sum;
            kept = moved;
        }
    }
    for (uint32_t k = moved; k-- > kept;)
        move(p, p->moved[k]);
    return kept > 0;
}

static bool take_pass(struct nuioa_arena *arena, struct nuioa_bipartition *c, struct pass *p)
{
    *p = (struct pass){
        .cut = c,
        .gain = nuioa_arena_take(arena, c->count, sizeof(double)),
        .open = nuioa_arena_take(arena, c->count, sizeof(uint32_t)),
        .moved = nuioa_arena_take(arena, c->count, sizeof(uint32_t)),
        .load = { nuioa_arena_take(arena, c->kind_count, sizeof(uint32_t)),
                  nuioa_arena_take(arena, c->kind_count, sizeof(uint32_t)) },
    };
    return !arena->failed;
}

int nuioa_bipartition_improve(struct nuioa_bipartition *c, double *gain,
                              struct nuioa_budget *budget)
{
    struct nuioa_arena scratch = { 0 };
    struct pass pass;
    int rc = take_pass(&scratch, c, &pass) ? 0 : -ENOMEM;
    *gain = 0;
    if (!rc) {
        measure(&pass);
        budget->evaluations += c->row[c->count] / 4;
        *gain = pass.cost;
        while (run_pass(&pass, budget))
            ;
        *gain -= pass.cost;
    }
    nuioa_arena_free(&scratch);
    return rc;
}

/* Returns how many tasks of a kind belong on side 0: in proportion to the limits, within what both
 * sides can take. */
static uint32_t target(const struct nuioa_bipartition *c, uint32_t kind, uint32_t total)
{
    uint64_t a = c->limit[0][kind], b = c->limit[1][kind];
    uint64_t share = a + b ? (total * a + (a + b) / 2) / (a + b) : 0;
    if (share > a)
        share = a;
    return (uint32_t)(total > b && share < total - b ? total - b : share);
}

/* Greedy graph growing: moves `seed` to side 0, then again and again the vertex with the highest
 * gain, until each kind has as many tasks there as it should. */
static void grow(struct pass *p, uint32_t seed, uint32_t *wanted, struct nuioa_budget *budget)
{
    struct nuioa_bipartition *c = p->cut;
    memset(c->side, 1, c->count);
    measure(p);
    open_all(p);
    for (uint32_t k = 0; k < c->kind_count; k++)
        wanted[k] = target(c, k, p->load[1][k]);
    uint32_t next = seed;
    while (next < p->open_count) {
        uint32_t v = p->open[next];
        if (wanted[c->kind[v]] >= c->size[v]) {
            wanted[c->kind[v]] -= c->size[v];
            move(p, v);
            budget->evaluations += (c->row[v + 1] - c->row[v]) / 4;
        }
        p->open[next] = p->open[--p->open_count];
        budget->evaluations += p->open_count / 6 + 1;
        next = p->open_count;
        for (uint32_t k = 0; k < p->open_count; k++)
            if (wanted[c->kind[p->open[k]]] >= c->size[p->open[k]] &&
                (next == p->open_count || p->gain[p->open[k]] > p->gain[p->open[next]]))
                next = k;
    }
}

/* Returns the vertex with the highest bias against side 1. */
static uint32_t most_biased(const struct nuioa_bipartition *c)
{
    uint32_t best = 0;
    for (uint32_t v = 1; v < c->count; v++)
        if (c->bias[v] > c->bias[best])
            best = v;
    return best;
}

int nuioa_bipartition_flat(struct nuioa_bipartition *c, struct nuioa_random *random,
                           struct nuioa_budget *budget)
{
    struct nuioa_arena scratch = { 0 };
    struct pass pass;
    uint8_t *best = nuioa_arena_take(&scratch, c->count, sizeof(*best));
    uint32_t *wanted = nuioa_arena_take(&scratch, c->kind_count, sizeof(*wanted));
    if (!take_pass(&scratch, c, &pass)) {
        nuioa_arena_free(&scratch);
        return -ENOMEM;
    }
    uint32_t least = UINT32_MAX;
    double least_cost = 0;
    for (uint32_t t = 0; t < c->tries && c->count; t++) {
        bool biased = !t && c->tries > 1;
        grow(&pass, biased ? most_biased(c) : nuioa_random_below(random, c->count), wanted, budget);
        while (run_pass(&pass, budget))
            ;
        uint32_t full = total_excess(&pass);
        if (full < least || (full == least && pass.cost < least_cost)) {
            least = full;
            least_cost = pass.cost;
            memcpy(best, c->side, c->count);
        }
    }
    memcpy(c->side, best, c->count);
    nuioa_arena_free(&scratch);
    return 0;
}
