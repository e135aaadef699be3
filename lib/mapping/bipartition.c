/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/bipartition.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* PATIENCE: moves without a new best before a pass ends, beside one for each 16 vertices. */
enum { PATIENCE = 8 };

struct pass {
    struct nuioa_bipartition *cut;
    double *gain;   /* [count]: by how much the cost falls if it crosses */
    uint32_t *open; /* [open_count]: who has not crossed in this pass */
    uint32_t open_count;
    uint32_t *crossed; /* [count]: in order */
    uint32_t *load[2]; /* [kind_count] */
    uint32_t slack;    /* a side may be too full by this much for a moment */
    double cost;       /* of the cut, followed through all crossings like the gains */
};

static uint32_t over(const struct pass *p, uint32_t side, uint32_t kind)
{
    uint32_t load = p->load[side][kind], limit = p->cut->limit[side][kind];
    return load > limit ? load - limit : 0;
}

static uint32_t overflow(const struct pass *p)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < p->cut->kind_count; k++)
        sum += over(p, 0, k) + over(p, 1, k);
    return sum;
}

static void weigh(struct pass *p)
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
        p->gain[v] = across - within + (c->side[v] ? c->lean[v] : -c->lean[v]);
        p->cost += across / 2 + (c->side[v] ? c->lean[v] : 0);
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

static void cross(struct pass *p, uint32_t v)
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

/* Something too full: only its members may cross, whatever it costs. */
static bool too_full(const struct pass *p, uint32_t *side, uint32_t *kind)
{
    for (*kind = 0; *kind < p->cut->kind_count; (*kind)++)
        for (*side = 0; *side < 2; (*side)++)
            if (over(p, *side, *kind))
                return true;
    return false;
}

/* Index into p->open of the best vertex that may cross, or open_count. */
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

/* One pass; true if it left the cut better. */
static bool run_pass(struct pass *p, struct nuioa_budget *budget)
{
    uint32_t least = overflow(p), crossed = 0, kept = 0;
    double sum = 0, best = 0, scale = 0;
    for (uint32_t v = 0; v < p->cut->count; v++)
        scale += fabs(p->gain[v]);
    double worth = 1e-9 * scale;
    uint32_t patience = PATIENCE + p->cut->count / 16;
    open_all(p);
    while (crossed < p->cut->count && crossed - kept <= patience) {
        budget->evaluations += p->open_count / 6 + 1;
        uint32_t k = pick(p);
        /* Without a budget what is too full still has to be mended. */
        if (k == p->open_count || (!least && budget->evaluations >= budget->limit))
            break;
        uint32_t v = p->open[k];
        p->open[k] = p->open[--p->open_count];
        budget->evaluations += (p->cut->row[v + 1] - p->cut->row[v]) / 4;
        sum += p->gain[v];
        cross(p, v);
        p->crossed[crossed++] = v;
        uint32_t now = overflow(p);
        if (now < least || (now == least && sum > best + worth)) {
            least = now;
            best = sum;
            kept = crossed;
        }
    }
    for (uint32_t k = crossed; k-- > kept;)
        cross(p, p->crossed[k]);
    return kept > 0;
}

static bool take_pass(struct nuioa_arena *arena, struct nuioa_bipartition *c, struct pass *p)
{
    *p = (struct pass){
        .cut = c,
        .gain = nuioa_arena_take(arena, c->count, sizeof(double)),
        .open = nuioa_arena_take(arena, c->count, sizeof(uint32_t)),
        .crossed = nuioa_arena_take(arena, c->count, sizeof(uint32_t)),
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
        weigh(&pass);
        budget->evaluations += c->row[c->count] / 4;
        *gain = pass.cost;
        while (run_pass(&pass, budget))
            ;
        *gain -= pass.cost;
    }
    nuioa_arena_free(&scratch);
    return rc;
}

/* How many tasks of a kind to put on side 0: its share of the room, within what both sides can
 * take. */
static uint32_t target(const struct nuioa_bipartition *c, uint32_t kind, uint32_t total)
{
    uint64_t a = c->limit[0][kind], b = c->limit[1][kind];
    uint64_t share = a + b ? (total * a + (a + b) / 2) / (a + b) : 0;
    if (share > a)
        share = a;
    return (uint32_t)(total > b && share < total - b ? total - b : share);
}

/* Side 0 takes in who gains most by joining, beginning with `seed`. */
static void grow(struct pass *p, uint32_t seed, uint32_t *wanted, struct nuioa_budget *budget)
{
    struct nuioa_bipartition *c = p->cut;
    memset(c->side, 1, c->count);
    weigh(p);
    open_all(p);
    for (uint32_t k = 0; k < c->kind_count; k++)
        wanted[k] = target(c, k, p->load[1][k]);
    uint32_t next = seed;
    while (next < p->open_count) {
        uint32_t v = p->open[next];
        if (wanted[c->kind[v]] >= c->size[v]) {
            wanted[c->kind[v]] -= c->size[v];
            cross(p, v);
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

/* The vertex that wants side 0 most. */
static uint32_t leaning(const struct nuioa_bipartition *c)
{
    uint32_t best = 0;
    for (uint32_t v = 1; v < c->count; v++)
        if (c->lean[v] > c->lean[best])
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
        bool lean = !t && c->tries > 1;
        grow(&pass, lean ? leaning(c) : nuioa_random_below(random, c->count), wanted, budget);
        while (run_pass(&pass, budget))
            ;
        uint32_t full = overflow(&pass);
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
