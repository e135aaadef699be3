/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/multilevel.h"

#include <errno.h>
#include <string.h>

#include "util/arena.h"

struct matching {
    const struct nuioa_bipartition *cut;
    uint32_t largest;  /* most tasks that one vertex may have */
    uint32_t *order;   /* [count]: the vertices in random order */
    uint32_t *mate;    /* [count]; an unmatched vertex is its own mate */
    uint32_t *waiting; /* [count]: an unmatched vertex whose heaviest edge leads to this one, or
                          UINT32_MAX */
};

static bool can_join(const struct matching *m, uint32_t v, uint32_t u)
{
    const struct nuioa_bipartition *c = m->cut;
    return u != v && m->mate[u] == u && c->kind[u] == c->kind[v] &&
           c->size[u] + c->size[v] <= m->largest;
}

/* Returns the neighbour of v with the heaviest edge, or v if it has none. If `joinable`, only
 * neighbours that v can join count, and the edge is divided by the neighbour's size. */
static uint32_t heaviest_neighbour(const struct matching *m, uint32_t v, bool joinable)
{
    const struct nuioa_bipartition *c = m->cut;
    uint32_t best = v;
    double most = 0;
    for (uint32_t e = c->row[v]; e < c->row[v + 1]; e++) {
        uint32_t u = c->peer[e];
        double bytes = joinable ? c->bytes[e] / c->size[u] : c->bytes[e];
        if (bytes > most && (!joinable || can_join(m, v, u))) {
            most = bytes;
            best = u;
        }
    }
    return best;
}

/* Heavy-edge matching: joins each vertex with its heaviest neighbour. Two vertices that stay
 * unmatched are joined if they have the same heaviest neighbour, as around a hub (two-hop matching:
 * D. LaSalle and others, "Improving Graph Partitioning for Modern Graphs and Architectures", 2015).
 * Fills into[count] with the coarse vertices; returns their number. */
static uint32_t match(struct matching *m, struct nuioa_random *random, uint32_t *into)
{
    uint32_t n = m->cut->count, count = 0;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t k = nuioa_random_below(random, v + 1);
        m->order[v] = m->order[k];
        m->order[k] = m->mate[v] = v;
        m->waiting[v] = UINT32_MAX;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = m->order[k], u = m->mate[v] == v ? heaviest_neighbour(m, v, true) : v;
        if (u != v) {
            m->mate[v] = u;
            m->mate[u] = v;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = m->order[k], hub = m->mate[v] == v ? heaviest_neighbour(m, v, false) : v;
        if (hub == v)
            continue;
        uint32_t u = m->waiting[hub];
        m->waiting[hub] = v;
        if (u != UINT32_MAX && can_join(m, v, u)) {
            m->mate[v] = u;
            m->mate[u] = v;
            m->waiting[hub] = UINT32_MAX;
        }
    }
    for (uint32_t v = 0; v < n; v++)
        into[v] = m->mate[v] < v ? into[m->mate[v]] : count++;
    return count;
}

static bool take_coarse(const struct nuioa_bipartition *fine, uint32_t count,
                        struct nuioa_arena *scratch, struct nuioa_bipartition *c)
{
    *c = *fine;
    c->count = count;
    c->size = nuioa_arena_take(scratch, count, sizeof(*c->size));
    c->kind = nuioa_arena_take(scratch, count, sizeof(*c->kind));
    c->bias = nuioa_arena_take(scratch, count, sizeof(*c->bias));
    c->row = nuioa_arena_take(scratch, (size_t)count + 1, sizeof(*c->row));
    c->peer = nuioa_arena_take(scratch, fine->row[fine->count], sizeof(*c->peer));
    c->bytes = nuioa_arena_take(scratch, fine->row[fine->count], sizeof(*c->bytes));
    c->side = nuioa_arena_take(scratch, count, sizeof(*c->side));
    return !scratch->failed;
}

/* Fills the coarse graph c. head and next list the members of each coarse vertex; edge_to[y] is the
 * index of the current vertex's edge to y. */
static int coarsen(const struct nuioa_bipartition *fine, const uint32_t *into,
                   struct nuioa_bipartition *c)
{
    struct nuioa_arena scratch = { 0 };
    uint32_t *head = nuioa_arena_take(&scratch, c->count, sizeof(*head));
    uint32_t *next = nuioa_arena_take(&scratch, fine->count, sizeof(*next));
    uint32_t *edge_to = nuioa_arena_take(&scratch, c->count, sizeof(*edge_to));
    if (scratch.failed) {
        nuioa_arena_free(&scratch);
        return -ENOMEM;
    }
    memset(head, 0xff, c->count * sizeof(*head));
    memset(edge_to, 0xff, c->count * sizeof(*edge_to));
    for (uint32_t v = 0; v < fine->count; v++) {
        next[v] = head[into[v]];
        head[into[v]] = v;
        c->size[into[v]] += fine->size[v];
        c->kind[into[v]] = fine->kind[v];
        c->bias[into[v]] += fine->bias[v];
    }
    uint32_t edges = 0;
    for (uint32_t x = 0; x < c->count; x++) {
        for (uint32_t v = head[x]; v != UINT32_MAX; v = next[v])
            for (uint32_t e = fine->row[v]; e < fine->row[v + 1]; e++) {
                uint32_t y = into[fine->peer[e]];
                if (y == x)
                    continue;
                if (edge_to[y] == UINT32_MAX || edge_to[y] < c->row[x]) {
                    edge_to[y] = edges;
                    c->peer[edges] = y;
                    c->bytes[edges++] = 0;
                }
                c->bytes[edge_to[y]] += fine->bytes[e];
            }
        c->row[x + 1] = edges;
    }
    nuioa_arena_free(&scratch);
    return 0;
}

static uint32_t tasks_of(const struct nuioa_bipartition *c)
{
    uint32_t sum = 0;
    for (uint32_t v = 0; v < c->count; v++)
        sum += c->size[v];
    return sum;
}

/* Recursion: one call for each level of coarsening. */
int nuioa_bipartition_multilevel(struct nuioa_bipartition *fine, struct nuioa_random *random,
                                 struct nuioa_budget *budget)
{
    if (fine->count <= fine->coarsest_count)
        return nuioa_bipartition_flat(fine, random, budget);
    struct nuioa_arena scratch = { 0 };
    struct nuioa_bipartition coarse;
    double gain;
    /* Vertices much larger than the mean of the coarsest graph could not be balanced. */
    struct matching m = { fine, 3 * tasks_of(fine) / (2 * fine->coarsest_count) + 1,
                          nuioa_arena_take(&scratch, fine->count, sizeof(uint32_t)),
                          nuioa_arena_take(&scratch, fine->count, sizeof(uint32_t)),
                          nuioa_arena_take(&scratch, fine->count, sizeof(uint32_t)) };
    uint32_t *into = nuioa_arena_take(&scratch, fine->count, sizeof(*into));
    int rc = -ENOMEM;
    if (scratch.failed)
        goto out;
    uint32_t count = match(&m, random, into);
    budget->evaluations += fine->row[fine->count] / 2;
    if (count > fine->count * 9 / 10) {
        rc = nuioa_bipartition_flat(fine, random, budget);
        goto out;
    }
    if (!take_coarse(fine, count, &scratch, &coarse))
        goto out;
    rc = coarsen(fine, into, &coarse);
    rc = rc ? rc : nuioa_bipartition_multilevel(&coarse, random, budget);
    if (rc)
        goto out;
    for (uint32_t v = 0; v < fine->count; v++)
        fine->side[v] = coarse.side[into[v]];
    rc = nuioa_bipartition_improve(fine, &gain, budget);
out:
    nuioa_arena_free(&scratch);
    return rc;
}
