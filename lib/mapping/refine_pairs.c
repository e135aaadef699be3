/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/refine_pairs.h"

#include <errno.h>
#include <string.h>

#include "mapping/bipartition.h"

/* The tasks of two classes are a bipartition while all other tasks stay. It finds sequences of
 * moves that lower J only at their end, which single swaps cannot find. */

struct refinement {
    struct nuioa_class_assignment *assignment;
    struct nuioa_bipartition cut;
    uint32_t *listed; /* [count]: the tasks of each class, from start[class] */
    uint32_t *start;  /* [class_count + 1] */
    uint32_t *member; /* [count]: the task of a vertex */
    uint32_t *vertex; /* [count]: the vertex of a task; valid for tasks of the two classes */
    uint8_t *before;  /* [count]: the side of a vertex before */
    double *between;  /* [class_count * class_count]: bytes between classes */
    bool *stale;      /* [class_count]: changed in the last round; other pairs are not tried */
    bool *changed;    /* [class_count]: changed in this round */
};

static bool take(struct refinement *r, struct nuioa_arena *scratch, const struct nuioa_graph *g)
{
    struct nuioa_bipartition *c = &r->cut;
    size_t count = g->count, classes = g->class_count;
    r->listed = nuioa_arena_take(scratch, count, sizeof(*r->listed));
    r->start = nuioa_arena_take(scratch, classes + 1, sizeof(*r->start));
    r->member = nuioa_arena_take(scratch, count, sizeof(*r->member));
    r->vertex = nuioa_arena_take(scratch, count, sizeof(*r->vertex));
    r->before = nuioa_arena_take(scratch, count, sizeof(*r->before));
    r->between = nuioa_arena_take(scratch, classes * classes, sizeof(*r->between));
    r->stale = nuioa_arena_take(scratch, classes, sizeof(*r->stale));
    r->changed = nuioa_arena_take(scratch, classes, sizeof(*r->changed));
    c->size = nuioa_arena_take(scratch, count, sizeof(*c->size));
    c->kind = nuioa_arena_take(scratch, count, sizeof(*c->kind)); /* all are of one kind, 0 */
    c->kind_count = 1;
    c->limit[0] = nuioa_arena_take(scratch, 1, sizeof(uint32_t));
    c->limit[1] = nuioa_arena_take(scratch, 1, sizeof(uint32_t));
    c->bias = nuioa_arena_take(scratch, count, sizeof(*c->bias));
    c->row = nuioa_arena_take(scratch, count + 1, sizeof(*c->row));
    c->peer = nuioa_arena_take(scratch, g->row[count], sizeof(*c->peer));
    c->bytes = nuioa_arena_take(scratch, g->row[count], sizeof(*c->bytes));
    c->side = nuioa_arena_take(scratch, count, sizeof(*c->side));
    return !scratch->failed;
}

static void list_members(struct refinement *r)
{
    const struct nuioa_graph *g = r->assignment->graph;
    const uint32_t *at = r->assignment->at;
    memset(r->start, 0, ((size_t)g->class_count + 1) * sizeof(*r->start));
    for (uint32_t i = 0; i < g->count; i++)
        r->start[at[i]]++;
    for (uint32_t c = 1; c <= g->class_count; c++)
        r->start[c] += r->start[c - 1];
    for (uint32_t i = g->count; i-- > 0;)
        r->listed[--r->start[at[i]]] = i;
}

/* Makes the vertices from the tasks of classes a and b. */
static void add_vertices(struct refinement *r, uint32_t a, uint32_t b)
{
    const struct nuioa_graph *g = r->assignment->graph;
    struct nuioa_bipartition *c = &r->cut;
    c->count = 0;
    for (uint8_t side = 0; side < 2; side++) {
        uint32_t slot_class = side ? b : a;
        for (uint32_t k = r->start[slot_class]; k < r->start[slot_class + 1]; k++) {
            r->vertex[r->listed[k]] = c->count;
            r->before[c->count] = c->side[c->count] = side;
            c->size[c->count] = 1;
            r->member[c->count++] = r->listed[k];
        }
    }
    c->limit[0][0] = g->classes[a].slots;
    c->limit[1][0] = g->classes[b].slots;
}

/* Makes edges and biases so that the cost of a bipartition changes exactly as J does. */
static void add_edges(struct refinement *r, uint32_t a, uint32_t b)
{
    const struct nuioa_graph *g = r->assignment->graph;
    const uint32_t *at = r->assignment->at;
    const double *da = nuioa_distances(g, a), *db = nuioa_distances(g, b);
    struct nuioa_bipartition *c = &r->cut;
    double across = da[b] - (da[a] + db[b]) / 2, tilt = (db[b] - da[a]) / 2;
    uint32_t edges = 0;
    for (uint32_t v = 0; v < c->count; v++) {
        uint32_t i = r->member[v];
        const double *price = nuioa_prices(r->assignment, i);
        double bias = price[b] - price[a];
        for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++) {
            uint32_t j = g->peer[e];
            if (at[j] != a && at[j] != b)
                continue;
            bias += g->bytes[e] * (tilt - db[at[j]] + da[at[j]]);
            c->peer[edges] = r->vertex[j];
            c->bytes[edges++] = g->bytes[e] * across;
        }
        c->bias[v] = bias;
        c->row[v + 1] = edges;
    }
}

static bool apply(struct refinement *r, uint32_t a, uint32_t b, struct nuioa_budget *budget)
{
    uint64_t effort = nuioa_change_effort(r->assignment->graph);
    bool changed = false;
    for (uint32_t v = 0; v < r->cut.count; v++) {
        if (r->cut.side[v] == r->before[v])
            continue;
        /* A class may have too many tasks until the last one has moved. */
        nuioa_class_assignment_move(r->assignment, r->member[v], r->cut.side[v] ? b : a);
        budget->evaluations += effort;
        changed = true;
    }
    if (changed)
        list_members(r);
    return changed;
}

/* Computes the bytes between all classes. */
static void measure(struct refinement *r)
{
    const struct nuioa_graph *g = r->assignment->graph;
    const uint32_t *at = r->assignment->at;
    memset(r->between, 0, (size_t)g->class_count * g->class_count * sizeof(*r->between));
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++)
            r->between[(size_t)at[i] * g->class_count + at[g->peer[e]]] += g->bytes[e];
}

static bool try_pair(struct refinement *r, uint32_t a, uint32_t b, struct nuioa_budget *budget)
{
    add_vertices(r, a, b);
    add_edges(r, a, b);
    budget->evaluations += r->cut.row[r->cut.count] / 4;
    double gain;
    if (nuioa_bipartition_improve(&r->cut, &gain, budget) ||
        gain <= nuioa_least_gain(r->assignment))
        return false;
    return apply(r, a, b, budget);
}

int nuioa_refine_pairs(struct nuioa_class_assignment *assignment, struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = assignment->graph;
    uint32_t n = g->class_count;
    struct nuioa_arena scratch = { 0 };
    struct refinement r = { .assignment = assignment };
    if (!take(&r, &scratch, g)) {
        nuioa_arena_free(&scratch);
        return -ENOMEM;
    }
    memset(r.stale, true, n);
    list_members(&r);
    for (bool better = true; better && budget->evaluations < budget->limit;) {
        better = false;
        measure(&r);
        memset(r.changed, 0, n);
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = a + 1; b < n && budget->evaluations < budget->limit; b++) {
                if ((!r.stale[a] && !r.stale[b]) || g->classes[a].kind != g->classes[b].kind ||
                    r.between[(size_t)a * n + b] <= 0 || !try_pair(&r, a, b, budget))
                    continue;
                better = r.changed[a] = r.changed[b] = true;
            }
        memcpy(r.stale, r.changed, n);
    }
    nuioa_arena_free(&scratch);
    return 0;
}
