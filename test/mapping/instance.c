/* SPDX-License-Identifier: BSD-3-Clause */
#include "instance.h"

#include <stdlib.h>
#include <string.h>

/* The same generator as lib/mapping/random.h. */
struct random {
    uint64_t state;
};

static uint32_t below(struct random *r, uint32_t bound)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (uint32_t)((r->state >> 32) * bound >> 32);
}

/* --- machines: distances are SLIT / 10 between NUMA nodes, 0.8 within a shared cache --- */

static const double two[] = { 10, 21, 21, 10 };
static const double square[] = { 10, 20, 20, 30, 20, 10, 30, 20, 20, 30, 10, 20, 30, 20, 20, 10 };
/* Eight Opterons whose 11 links form a ladder with one diagonal. */
static const double ladder[] = { 10, 20, 20, 30, 30, 40, 40, 50, 20, 10, 30, 20, 30, 30, 40, 40,
                                 20, 30, 10, 20, 20, 30, 30, 40, 30, 20, 20, 10, 20, 20, 30, 30,
                                 30, 30, 20, 20, 10, 20, 20, 30, 40, 30, 30, 20, 20, 10, 30, 20,
                                 40, 40, 30, 30, 20, 30, 10, 20, 50, 40, 40, 30, 30, 20, 20, 10 };
static const double dies[] = { 10, 12, 12, 12, 32, 32, 32, 32, 12, 10, 12, 12, 32, 32, 32, 32,
                               12, 12, 10, 12, 32, 32, 32, 32, 12, 12, 12, 10, 32, 32, 32, 32,
                               32, 32, 32, 32, 10, 12, 12, 12, 32, 32, 32, 32, 12, 10, 12, 12,
                               32, 32, 32, 32, 12, 12, 10, 12, 32, 32, 32, 32, 12, 12, 12, 10 };

static const struct machine {
    const char *name;
    uint32_t numas;
    const double *slit;
    bool caches; /* each NUMA node has several caches, each shared by 8 cores */
    /* The tree without caches; costs are in proportion to the rise of the distances. */
    uint32_t levels, arity[2], cost[2];
} machines[MACHINES] = {
    { "2 NUMA", 2, two, false, 1, { 2 }, { 220 } },
    { "4 NUMA, square", 4, square, false, 0, { 0 }, { 0 } },
    { "8 NUMA, ladder", 8, ladder, false, 0, { 0 }, { 0 } },
    { "2 NUMA, caches", 2, two, true, 1, { 2 }, { 220 } },
    { "8 NUMA, dies", 8, dies, false, 2, { 2, 4 }, { 400, 40 } },
    { "8 NUMA, dies, caches", 8, dies, true, 2, { 2, 4 }, { 400, 40 } },
};

static double nic_cost(const struct machine *m, uint32_t nic, uint32_t numa)
{
    double d = m->slit[nic * m->numas + numa];
    uint32_t level = 0;
    /* The level is the number of distinct distances below this one. */
    for (uint32_t a = 0; a < m->numas; a++) {
        double e = m->slit[nic * m->numas + a];
        bool first = e < d;
        for (uint32_t b = 0; b < a && first; b++)
            first = m->slit[nic * m->numas + b] != e;
        level += first;
    }
    return 1 + (level ? 0.30 : 0) + (level > 1 ? 0.05 * (level - 1) : 0);
}

static void make_machine(struct instance *in, struct random *r, const struct machine *m,
                         uint32_t tasks, uint32_t spare)
{
    struct nuioa_problem *p = &in->problem;
    uint32_t slots = tasks + spare, each = (slots + m->numas - 1) / m->numas;
    uint32_t caches = m->caches && each > 8 ? each / 8 : 1, nic = below(r, m->numas);
    p->slot_count = slots;
    p->domain_count = m->numas * caches;
    in->machine = m->name;
    in->nic_domain = nic * caches;
    in->tree_levels = m->levels ? m->levels + 1 : 0;
    memcpy(in->tree_arity, m->arity, sizeof(m->arity));
    memcpy(in->tree_cost, m->cost, sizeof(m->cost));
    if (m->levels) {
        in->tree_arity[m->levels] = caches;
        in->tree_cost[m->levels] = 40;
    }
    in->nic_cost = calloc(slots, sizeof(double));
    in->tie = calloc(slots, sizeof(uint32_t));
    in->domain = calloc(slots, sizeof(uint32_t));
    in->kind = calloc(slots, sizeof(uint32_t));
    in->domain_cost = calloc((size_t)p->domain_count * p->domain_count, sizeof(double));
    for (uint32_t s = 0; s < slots; s++) {
        uint32_t numa = s / each;
        in->domain[s] = numa * caches + s % each * caches / each;
        in->nic_cost[s] = nic_cost(m, nic, numa);
    }
    for (uint32_t a = 0; a < p->domain_count; a++)
        for (uint32_t b = 0; b < p->domain_count; b++)
            in->domain_cost[a * p->domain_count + b] =
                a == b && m->caches ? 0.8 : m->slit[a / caches * m->numas + b / caches] / 10;
}

/* --- applications --- */

static void add(struct instance *in, uint32_t a, uint32_t b, double bytes)
{
    struct nuioa_problem *p = &in->problem;
    if (a == b || bytes <= 0)
        return;
    if (!(p->pair_count & (p->pair_count - 1)))
        in->pairs =
            realloc(in->pairs, (p->pair_count ? 2 * p->pair_count : 1) * sizeof(*in->pairs));
    in->pairs[p->pair_count++] =
        a < b ? (struct nuioa_pair){ a, b, bytes } : (struct nuioa_pair){ b, a, bytes };
}

static int by_tasks(const void *a, const void *b)
{
    const struct nuioa_pair *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

/* Sorts the pairs and adds up equal ones. */
static void sum_pairs(struct instance *in)
{
    struct nuioa_problem *p = &in->problem;
    uint32_t kept = 0;
    if (p->pair_count)
        qsort(in->pairs, p->pair_count, sizeof(*in->pairs), by_tasks);
    for (uint32_t k = 0; k < p->pair_count; k++) {
        if (kept && !by_tasks(&in->pairs[kept - 1], &in->pairs[k]))
            in->pairs[kept - 1].bytes += in->pairs[k].bytes;
        else
            in->pairs[kept++] = in->pairs[k];
    }
    p->pair_count = kept;
}

/* Ranks are cells of a grid and communicate with adjacent cells; those on the border communicate
 * with other nodes. `name` renumbers the ranks. */
static void stencil(struct instance *in, uint32_t n, uint32_t dims, const uint32_t *name)
{
    uint32_t side[3] = { 1, 1, 1 }, left = n;
    for (uint32_t d = 0; d < dims; d++) {
        uint32_t best = 1;
        for (uint32_t f = 1; f <= left; f++) {
            uint64_t power = f;
            for (uint32_t k = d + 1; k < dims; k++)
                power *= f;
            if (left % f == 0 && power <= left)
                best = f;
        }
        side[d] = d + 1 == dims ? left : best;
        left /= side[d];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at[3] = { i % side[0], i / side[0] % side[1], i / side[0] / side[1] }, step = 1;
        for (uint32_t d = 0; d < dims; d++) {
            if (at[d] + 1 < side[d])
                add(in, name[i], name[i + step], 10);
            in->weight[name[i]] += (at[d] == 0) + (at[d] + 1 == side[d]);
            step *= side[d];
        }
    }
}

static void clusters(struct instance *in, struct random *r, uint32_t n, const uint32_t *name)
{
    uint32_t size = n >= 64 ? 8 : 3;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = i + 1; j < n; j++) {
            if (i / size == j / size)
                add(in, name[i], name[j], 50 + below(r, 50));
            else if (below(r, 1000) < 20)
                add(in, name[i], name[j], 1 + below(r, 10));
        }
        in->weight[name[i]] = i % size ? below(r, 10) : 500 + below(r, 500);
    }
}

static void hubs(struct instance *in, struct random *r, uint32_t n, const uint32_t *name)
{
    uint32_t count = 1 + n / 32;
    for (uint32_t i = count; i < n; i++) {
        add(in, name[i], name[below(r, count)], 20 + below(r, 80));
        add(in, name[i], name[count + below(r, n - count)], 1 + below(r, 10));
        in->weight[name[i]] = below(r, 5);
    }
    for (uint32_t i = 0; i < count; i++)
        in->weight[name[i]] = 100 + below(r, 400);
}

static void make_traffic(struct instance *in, struct random *r, uint32_t n, int pattern)
{
    static const char *const names[PATTERNS] = { "stencil 2D", "stencil 3D", "random",
                                                 "clusters",   "dense",      "hubs",
                                                 "all to all" };
    uint32_t *name = calloc(n, sizeof(*name));
    bool shuffle = below(r, 4) > 0;
    in->pattern = names[pattern];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = shuffle ? below(r, i + 1) : i;
        name[i] = name[k];
        name[k] = i;
    }
    if (pattern < 2)
        stencil(in, n, pattern ? 3 : 2, name);
    for (uint32_t i = 0; pattern == 2 && i < n; i++) {
        for (uint32_t k = 0; k < (n > 16 ? 4 : 2); k++)
            add(in, i, below(r, n), 1 + below(r, 100));
        in->weight[i] = below(r, 4) ? below(r, 20) : 100 + below(r, 400);
    }
    if (pattern == 3)
        clusters(in, r, n, name);
    for (uint32_t i = 0; (pattern == 4 || pattern == 6) && i < n; i++) {
        for (uint32_t j = i + 1; j < n; j++)
            add(in, i, j, pattern == 4 ? below(r, 100) : 1);
        in->weight[i] = below(r, 5) ? below(r, 100) : below(r, 10000);
    }
    if (pattern == 5)
        hubs(in, r, n, name);
    free(name);
    sum_pairs(in);
}

/* Scales the weights to the given share of all bytes. 0 leaves only pairs, 1 only weights. */
static void set_share(struct instance *in, double off_node)
{
    struct nuioa_problem *p = &in->problem;
    double inside = 0, outside = 0;
    for (uint32_t k = 0; k < p->pair_count; k++)
        inside += p->pairs[k].bytes;
    for (uint32_t i = 0; i < p->task_count; i++)
        outside += in->weight[i];
    if (off_node >= 1)
        p->pair_count = 0;
    else
        for (uint32_t i = 0; i < p->task_count; i++)
            in->weight[i] *= outside > 0 ? off_node / (1 - off_node) * inside / outside : 0;
}

void instance_make(struct instance *in, uint64_t seed, uint32_t tasks, int pattern, int machine,
                   double off_node, uint32_t spare)
{
    struct random r = { seed * 0x9e3779b97f4a7c15 + 88172645463325252 };
    for (int k = 0; k < 8; k++)
        below(&r, 2);
    memset(in, 0, sizeof(*in));
    struct nuioa_problem *p = &in->problem;
    p->task_count = tasks;
    in->off_node = off_node;
    in->weight = calloc(tasks, sizeof(double));
    in->start = calloc(tasks, sizeof(uint32_t));
    in->task_kind = calloc(tasks, sizeof(uint32_t));
    for (uint32_t i = 0; i < tasks; i++)
        in->start[i] = i;
    make_machine(in, &r, &machines[machine], tasks, spare);
    make_traffic(in, &r, tasks, pattern);
    p->pairs = in->pairs;
    set_share(in, off_node);
    p->weight = in->weight;
    p->nic_cost = in->nic_cost;
    p->tie = in->tie;
    p->domain = in->domain;
    p->domain_cost = in->domain_cost;
    p->kind = in->kind;
    p->task_kind = in->task_kind;
    p->start = in->start;
}

void instance_free(struct instance *in)
{
    free(in->weight);
    free(in->nic_cost);
    free(in->domain_cost);
    free(in->tie);
    free(in->domain);
    free(in->kind);
    free(in->task_kind);
    free(in->start);
    free(in->pairs);
}
