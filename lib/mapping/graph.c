/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DENSE_MAX 4096 /* tasks of a graph that has the table by pair: 128 MB */

/* Domains are merged if their slots have the same distances to all slots, each other's included.
 * Example: private caches of one slot each below a shared cache. */
struct merge {
    uint32_t *merged; /* [domain_count]: the domain that it was merged into, or itself */
    uint32_t *slots;  /* [domain_count]: number of slots, those of merged domains included */
    double *inner;    /* [domain_count]: the price of a byte between two slots of merged domains */
};

static double between(const struct nuioa_problem *p, uint32_t a, uint32_t b)
{
    return p->domain_cost ? p->domain_cost[(size_t)a * p->domain_count + b] : 0;
}

/* Returns true if domain x can be merged into `into`. */
static bool alike(const struct nuioa_problem *p, const struct merge *m, uint32_t into, uint32_t x)
{
    double mutual = between(p, into, x);
    if (m->slots[into] > 1 && m->inner[into] != mutual)
        return false;
    if (m->slots[x] > 1 && between(p, x, x) != mutual)
        return false;
    for (uint32_t y = 0; y < p->domain_count; y++) {
        if (y == x || y == into || m->merged[y] == NUIOA_NO_CLASS)
            continue;
        if (between(p, x, y) != (m->merged[y] == into ? mutual : between(p, into, y)))
            return false;
    }
    return true;
}

/* m->slots must hold the number of slots of each domain. */
static void merge_domains(const struct nuioa_problem *p, struct merge *m)
{
    for (uint32_t x = 0; x < p->domain_count; x++) {
        m->merged[x] = m->slots[x] ? x : NUIOA_NO_CLASS;
        m->inner[x] = between(p, x, x);
    }
    for (uint32_t x = 1; x < p->domain_count; x++) {
        if (!m->slots[x])
            continue;
        for (uint32_t into = 0; into < x && m->merged[x] == x; into++) {
            if (m->merged[into] != into || !alike(p, m, into, x))
                continue;
            m->merged[x] = into;
            m->inner[into] = between(p, into, x);
            m->slots[into] += m->slots[x];
        }
    }
}

static uint32_t kind_index(uint32_t *kinds, uint32_t *count, uint32_t kind)
{
    uint32_t k = 0;
    while (k < *count && kinds[k] != kind)
        k++;
    if (k == *count)
        kinds[(*count)++] = kind;
    return k;
}

static void add_slot(struct nuioa_graph *g, const struct nuioa_problem *p, uint32_t slot,
                     uint32_t domain, uint32_t kind)
{
    uint32_t c = 0;
    while (c < g->class_count && (g->classes[c].domain != domain || g->classes[c].kind != kind ||
                                  g->classes[c].nic_cost != p->nic_cost[slot]))
        c++;
    if (c == g->class_count)
        g->classes[g->class_count++] = (struct nuioa_class){ kind, 0, p->nic_cost[slot], domain };
    g->classes[c].slots++;
    g->class_of[slot] = c;
}

static int make_classes(struct nuioa_graph *g, const struct nuioa_problem *p, const bool *taken,
                        struct nuioa_arena *scratch, struct merge *m)
{
    m->merged = nuioa_arena_take(scratch, p->domain_count, sizeof(*m->merged));
    m->slots = nuioa_arena_take(scratch, p->domain_count, sizeof(*m->slots));
    m->inner = nuioa_arena_take(scratch, p->domain_count, sizeof(*m->inner));
    uint32_t *kinds = nuioa_arena_take(scratch, p->slot_count, sizeof(*kinds));
    g->classes = nuioa_arena_take(&g->arena, p->slot_count, sizeof(*g->classes));
    g->class_of = nuioa_arena_take(&g->arena, p->slot_count, sizeof(*g->class_of));
    if (scratch->failed || g->arena.failed)
        return -ENOMEM;

    for (uint32_t s = 0; s < p->slot_count; s++)
        m->slots[p->domain[s]]++;
    merge_domains(p, m);
    for (uint32_t s = 0; s < p->slot_count; s++) {
        g->class_of[s] = NUIOA_NO_CLASS;
        uint32_t kind = kind_index(kinds, &g->kind_count, p->kind[s]);
        if (!taken[s])
            add_slot(g, p, s, m->merged[p->domain[s]], kind);
    }
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t k = 0;
        while (k < g->kind_count && kinds[k] != p->task_kind[g->task[i]])
            k++;
        if (k == g->kind_count)
            return -EINVAL;
        g->kind[i] = k;
    }
    return 0;
}

static int make_costs(struct nuioa_graph *g, const struct nuioa_problem *p, const struct merge *m)
{
    size_t classes = g->class_count;
    g->distance = nuioa_arena_take(&g->arena, classes * classes, sizeof(double));
    g->linear = nuioa_arena_take(&g->arena, classes * g->count, sizeof(double));
    if (g->arena.failed)
        return -ENOMEM;
    for (uint32_t a = 0; a < classes; a++)
        for (uint32_t b = 0; b < classes; b++) {
            uint32_t x = g->classes[a].domain, y = g->classes[b].domain;
            g->distance[a * classes + b] = x == y ? m->inner[x] : between(p, x, y);
        }
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t c = 0; c < classes; c++)
            g->linear[i * classes + c] = p->weight[g->task[i]] * g->classes[c].nic_cost;
    return 0;
}

/* Adds the traffic of `i` with a pinned task to i's linear costs: it depends on i's class alone. */
static void add_pinned(struct nuioa_graph *g, const struct nuioa_problem *p, const struct merge *m,
                       uint32_t i, uint32_t pinned, double bytes)
{
    uint32_t there = m->merged[p->domain[p->start[pinned]]];
    double *linear = g->linear + (size_t)i * g->class_count;
    for (uint32_t c = 0; c < g->class_count; c++) {
        uint32_t here = g->classes[c].domain;
        linear[c] += bytes * (here == there ? m->inner[here] : between(p, here, there));
    }
}

static void add_edge(struct nuioa_graph *g, uint32_t *fill, uint32_t a, uint32_t b, double bytes)
{
    g->peer[fill[a]] = b;
    g->bytes[fill[a]++] = bytes;
    if (g->dense)
        g->dense[(size_t)a * g->count + b] += bytes;
}

/* index[task_count] is the index among the tasks that may move, or NUIOA_NO_CLASS if pinned. */
static int make_edges(struct nuioa_graph *g, const struct nuioa_problem *p, const struct merge *m,
                      const uint32_t *index, struct nuioa_arena *scratch)
{
    uint32_t *fill = nuioa_arena_take(scratch, (size_t)g->count + 1, sizeof(*fill));
    g->row = nuioa_arena_take(&g->arena, (size_t)g->count + 1, sizeof(*g->row));
    if (scratch->failed || g->arena.failed)
        return -ENOMEM;
    for (uint32_t k = 0; k < p->pair_count; k++) {
        uint32_t a = index[p->pairs[k].first], b = index[p->pairs[k].second];
        if (a != NUIOA_NO_CLASS && b != NUIOA_NO_CLASS && a != b) {
            g->row[a + 1]++;
            g->row[b + 1]++;
        }
    }
    for (uint32_t i = 0; i < g->count; i++) {
        g->row[i + 1] += g->row[i];
        fill[i] = g->row[i];
    }
    size_t edges = g->row[g->count];
    g->peer = nuioa_arena_take(&g->arena, edges, sizeof(*g->peer));
    g->bytes = nuioa_arena_take(&g->arena, edges, sizeof(*g->bytes));
    /* Short rows are scanned quickly and need no table, and one of many tasks takes too much. */
    if (edges > 24 * (size_t)g->count && g->count <= DENSE_MAX)
        g->dense = nuioa_arena_take(&g->arena, (size_t)g->count * g->count, sizeof(*g->dense));
    if (g->arena.failed)
        return -ENOMEM;
    for (uint32_t k = 0; k < p->pair_count; k++) {
        const struct nuioa_pair *pair = &p->pairs[k];
        uint32_t a = index[pair->first], b = index[pair->second];
        if (a == b)
            continue;
        if (a != NUIOA_NO_CLASS && b != NUIOA_NO_CLASS) {
            add_edge(g, fill, a, b, pair->bytes);
            add_edge(g, fill, b, a, pair->bytes);
        } else if (a != NUIOA_NO_CLASS) {
            add_pinned(g, p, m, a, pair->second, pair->bytes);
        } else {
            add_pinned(g, p, m, b, pair->first, pair->bytes);
        }
    }
    return 0;
}

int nuioa_graph_make(const struct nuioa_problem *p, struct nuioa_graph *g)
{
    struct nuioa_arena scratch = { 0 };
    struct merge merge;
    memset(g, 0, sizeof(*g));
    bool *taken = nuioa_arena_take(&scratch, p->slot_count, sizeof(*taken));
    uint32_t *index = nuioa_arena_take(&scratch, p->task_count, sizeof(*index));
    g->task = nuioa_arena_take(&g->arena, p->task_count, sizeof(*g->task));
    g->kind = nuioa_arena_take(&g->arena, p->task_count, sizeof(*g->kind));
    int rc = -ENOMEM;
    if (scratch.failed || g->arena.failed)
        goto out;
    for (uint32_t i = 0; i < p->task_count; i++) {
        bool pinned = p->pinned && p->pinned[i];
        index[i] = pinned ? NUIOA_NO_CLASS : g->count;
        if (pinned)
            taken[p->start[i]] = true;
        else
            g->task[g->count++] = i;
    }
    rc = make_classes(g, p, taken, &scratch, &merge);
    if (!rc)
        rc = make_costs(g, p, &merge);
    if (!rc)
        rc = make_edges(g, p, &merge, index, &scratch);
out:
    nuioa_arena_free(&scratch);
    return rc;
}

void nuioa_graph_free(struct nuioa_graph *g)
{
    nuioa_arena_free(&g->arena);
}
