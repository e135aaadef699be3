/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "mapping/bipartition.h"

/* Large graphs: vertices that talk most are joined, two by two, until few are left; those are cut,
 * and the cut is improved each time they are taken apart again. Whole regions then move where
 * single tasks would not. */

struct matching {
    const struct nuioa_bipartition *cut;
    uint32_t largest; /* tasks in one vertex */
    uint32_t *order;  /* [count]: random */
    uint32_t *mate;   /* [count]; of an unjoined vertex: itself */
    uint32_t *waits;  /* [count]: who waits for another friend of this vertex, or UINT32_MAX */
};

static bool can_join(const struct matching *m, uint32_t v, uint32_t u)
{
    const struct nuioa_bipartition *c = m->cut;
    return u != v && m->mate[u] == u && c->kind[u] == c->kind[v] &&
           c->size[u] + c->size[v] <= m->largest;
}

/* Whom v talks to most, for each task that joining would add: of those it can join, or of all. v if
 * none. */
static uint32_t friend_of(const struct matching *m, uint32_t v, bool joinable)
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

/* Joins each vertex with the one it talks to most; those who find nobody, as all but one around a
 * hub, with somebody who has the same best friend. into[] numbers the results; returns how many
 * there are. */
static uint32_t match(struct matching *m, struct nuioa_random *random, uint32_t *into)
{
    uint32_t n = m->cut->count, count = 0;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t k = nuioa_random_below(random, v + 1);
        m->order[v] = m->order[k];
        m->order[k] = m->mate[v] = v;
        m->waits[v] = UINT32_MAX;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = m->order[k], u = m->mate[v] == v ? friend_of(m, v, true) : v;
        if (u != v) {
            m->mate[v] = u;
            m->mate[u] = v;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = m->order[k], hub = m->mate[v] == v ? friend_of(m, v, false) : v;
        if (hub == v)
            continue;
        uint32_t u = m->waits[hub];
        m->waits[hub] = v;
        if (u != UINT32_MAX && can_join(m, v, u)) {
            m->mate[v] = u;
            m->mate[u] = v;
            m->waits[hub] = UINT32_MAX;
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
    c->lean = nuioa_arena_take(scratch, count, sizeof(*c->lean));
    c->row = nuioa_arena_take(scratch, (size_t)count + 1, sizeof(*c->row));
    c->peer = nuioa_arena_take(scratch, fine->row[fine->count], sizeof(*c->peer));
    c->bytes = nuioa_arena_take(scratch, fine->row[fine->count], sizeof(*c->bytes));
    c->side = nuioa_arena_take(scratch, count, sizeof(*c->side));
    return !scratch->failed;
}

/* Members of each coarse vertex are found through lists; `edge_to` remembers where this vertex's
 * edge to another already is. */
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
        c->lean[into[v]] += fine->lean[v];
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

/* Calls itself once for each halving of the graph. */
int nuioa_bipartition_multilevel(struct nuioa_bipartition *fine, struct nuioa_random *random,
                                 struct nuioa_budget *budget)
{
    if (fine->count <= fine->enough)
        return nuioa_bipartition_flat(fine, random, budget);
    struct nuioa_arena scratch = { 0 };
    struct nuioa_bipartition coarse;
    double gain;
    /* Lumps much above the mean of the smallest graph could not be balanced. */
    struct matching m = { fine, 3 * tasks_of(fine) / (2 * fine->enough) + 1,
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
