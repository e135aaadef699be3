/* SPDX-License-Identifier: BSD-3-Clause */
#include "scotch_cost.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scotch.h>

#include "mapping/graph.h"
#include "mapping/refine.h"

/* Describes the machine to Scotch as the graph of its links. This is right if the distance grows by
 * the same amount with each link. */
static int make_links(const struct nuioa_problem *p, SCOTCH_Graph *graph, SCOTCH_Arch *arch)
{
    uint32_t n = p->domain_count;
    SCOTCH_Num edges = 0;
    SCOTCH_Num *first = calloc(n + 1, sizeof(*first)), *load = calloc(n, sizeof(*load));
    SCOTCH_Num *to = calloc((size_t)n * n, sizeof(*to));
    for (uint32_t s = 0; s < p->slot_count; s++)
        load[p->domain[s]]++;
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++)
            if (a != b && p->domain_cost[a * n + b] <= 2)
                to[edges++] = (SCOTCH_Num)b;
        first[a + 1] = edges;
    }
    SCOTCH_Strat strat;
    SCOTCH_stratInit(&strat);
    int rc = SCOTCH_graphBuild(graph, 0, (SCOTCH_Num)n, first, NULL, load, NULL, edges, to, NULL);
    rc = rc ? rc : SCOTCH_archBuild0(arch, graph, 0, NULL, &strat);
    SCOTCH_stratExit(&strat);
    free(first);
    free(load);
    free(to);
    return rc;
}

/* Describes the machine to Scotch as a tree of packages, NUMA nodes, caches and cores. J does not
 * distinguish cores; they cost little in Scotch. */
static int make_tree(const struct instance *in, SCOTCH_Arch *arch)
{
    SCOTCH_Num size[5], cost[5];
    SCOTCH_Num levels = 0;
    for (uint32_t k = 0; k < in->tree_levels; k++)
        if (in->tree_arity[k] > 1) {
            size[levels] = (SCOTCH_Num)in->tree_arity[k];
            cost[levels++] = (SCOTCH_Num)in->tree_cost[k];
        }
    size[levels] = (SCOTCH_Num)(in->problem.slot_count / in->problem.domain_count);
    cost[levels++] = 1;
    return SCOTCH_archTleaf(arch, levels, size, cost);
}

/* The application as a graph: ranks have load 1; the NIC, if included, is the last vertex and has
 * load 0. */
struct application {
    SCOTCH_Num *first, *to, *bytes, *load;
    SCOTCH_Num count, edges;
};

/* Returns by what factor J charges more for a byte to the NIC than for a byte to a neighbour: the
 * mean rise of nic_cost outside the NIC's domain, divided by that of domain_cost. */
static double nic_factor(const struct instance *in)
{
    const struct nuioa_problem *p = &in->problem;
    const double *row = p->domain_cost + (size_t)in->nic_domain * p->domain_count;
    double nic = 0, away = 0;
    for (uint32_t s = 0; s < p->slot_count; s++) {
        nic += p->nic_cost[s] - 1;
        away += row[p->domain[s]] - row[in->nic_domain];
    }
    return away > 0 ? nic / away : 1;
}

static void make_application(const struct instance *in, bool nic, struct application *a)
{
    const struct nuioa_problem *p = &in->problem;
    uint32_t n = p->task_count;
    size_t most = 2 * ((size_t)p->pair_count + n);
    double largest = 0, factor = nic_factor(in);
    double *row = calloc(n + 1, sizeof(*row));
    a->first = calloc(n + 2, sizeof(*a->first));
    a->to = calloc(most, sizeof(*a->to));
    a->bytes = calloc(most, sizeof(*a->bytes));
    a->load = calloc(n + 1, sizeof(*a->load));
    for (uint32_t k = 0; k < p->pair_count; k++)
        largest = fmax(largest, p->pairs[k].bytes);
    for (uint32_t i = 0; nic && i < n; i++)
        largest = fmax(largest, factor * p->weight[i]);
    a->edges = 0;
    a->count = (SCOTCH_Num)n + nic;
    for (uint32_t i = 0; i < n + nic; i++) {
        a->load[i] = i < n;
        memset(row, 0, (n + 1) * sizeof(*row));
        for (uint32_t k = 0; i < n && k < p->pair_count; k++) {
            if (p->pairs[k].first == i)
                row[p->pairs[k].second] += p->pairs[k].bytes;
            if (p->pairs[k].second == i)
                row[p->pairs[k].first] += p->pairs[k].bytes;
        }
        if (nic && i < n)
            row[n] = factor * p->weight[i];
        for (uint32_t j = 0; i == n && j < n; j++)
            row[j] = factor * p->weight[j];
        for (uint32_t j = 0; j < n + nic; j++)
            if (row[j] > 0) {
                a->to[a->edges] = (SCOTCH_Num)j;
                a->bytes[a->edges++] = (SCOTCH_Num)fmax(1, row[j] * 10000 / largest);
            }
        a->first[i + 1] = a->edges;
    }
    free(row);
}

/* Scotch balances within a tolerance. Where a domain has more ranks than slots, moves those ranks
 * out whose move costs least. */
static void empty_overfull(const struct nuioa_problem *p, uint32_t *domain_of)
{
    uint32_t n = p->task_count, domains = p->domain_count;
    int *free_slots = calloc(domains, sizeof(*free_slots));
    double *nic = calloc(domains, sizeof(*nic));
    for (uint32_t s = 0; s < p->slot_count; s++) {
        free_slots[p->domain[s]]++;
        nic[p->domain[s]] = p->nic_cost[s];
    }
    for (uint32_t i = 0; i < n; i++)
        free_slots[domain_of[i]]--;
    for (uint32_t d = 0; d < domains; d++)
        while (free_slots[d] < 0) {
            double least = INFINITY;
            uint32_t who = 0, where = 0;
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t e = 0; domain_of[i] == d && e < domains; e++) {
                    double cost = p->weight[i] * (nic[e] - nic[d]);
                    if (free_slots[e] <= 0)
                        continue;
                    for (uint32_t k = 0; k < p->pair_count; k++) {
                        const struct nuioa_pair *q = &p->pairs[k];
                        uint32_t peer = q->first == i ? q->second : q->first;
                        if (q->first == i || q->second == i)
                            cost += q->bytes * (p->domain_cost[e * domains + domain_of[peer]] -
                                                p->domain_cost[d * domains + domain_of[peer]]);
                    }
                    if (cost < least) {
                        least = cost;
                        who = i;
                        where = e;
                    }
                }
            domain_of[who] = where;
            free_slots[where]--;
            free_slots[d]++;
        }
    free(free_slots);
    free(nic);
}

/* Makes a mapping from domains, improves it by swaps, and returns its J. */
static double improved(const struct nuioa_problem *p, const uint32_t *domain_of, uint32_t *slot_of)
{
    struct nuioa_budget budget = { 0, UINT64_MAX };
    struct nuioa_problem with_graph = *p;
    struct nuioa_graph graph;
    bool *taken = calloc(p->slot_count, sizeof(*taken));
    for (uint32_t i = 0; i < p->task_count; i++)
        for (uint32_t s = 0; s < p->slot_count; s++)
            if (!taken[s] && p->domain[s] == domain_of[i]) {
                taken[s] = true;
                slot_of[i] = s;
                break;
            }
    free(taken);
    if (nuioa_graph_make(p, &graph))
        return INFINITY;
    with_graph.graph = &graph;
    nuioa_refine(&with_graph, slot_of, false, &budget);
    nuioa_graph_free(&graph);
    return nuioa_cost(p, slot_of);
}

static double map(const struct instance *in, const struct application *a, SCOTCH_Arch *arch,
                  bool nic, SCOTCH_Num strategy, uint32_t *slot_of)
{
    const struct nuioa_problem *p = &in->problem;
    uint32_t n = p->task_count;
    SCOTCH_Num each = in->tree_levels ? (SCOTCH_Num)(p->slot_count / p->domain_count) : 1;
    SCOTCH_Num *to = calloc(n + 1, sizeof(*to));
    uint32_t *domain_of = calloc(n, sizeof(*domain_of));
    SCOTCH_Graph graph;
    SCOTCH_Strat strat;
    for (uint32_t i = 0; i < n; i++)
        to[i] = -1;
    to[n] = (SCOTCH_Num)in->nic_domain * each;
    SCOTCH_graphInit(&graph);
    SCOTCH_stratInit(&strat);
    SCOTCH_randomSeed(7);
    SCOTCH_randomReset();
    int rc = SCOTCH_graphBuild(&graph, 0, a->count, a->first, NULL, a->load, NULL, a->edges, a->to,
                               a->bytes);
    rc = rc ? rc : SCOTCH_stratGraphMapBuild(&strat, strategy, (SCOTCH_Num)n, 0.001);
    if (!rc)
        rc = nic ? SCOTCH_graphMapFixed(&graph, arch, &strat, to)
                 : SCOTCH_graphMap(&graph, arch, &strat, to);
    double cost = INFINITY;
    if (!rc) {
        for (uint32_t i = 0; i < n; i++)
            domain_of[i] = (uint32_t)(to[i] / each);
        empty_overfull(p, domain_of);
        cost = improved(p, domain_of, slot_of);
    } else {
        fprintf(stderr, "Scotch refused %s on %s\n", in->pattern, in->machine);
    }
    SCOTCH_stratExit(&strat);
    SCOTCH_graphExit(&graph);
    free(to);
    free(domain_of);
    return cost;
}

double scotch_cost(const struct instance *in, bool nic, uint32_t *slot_of)
{
    SCOTCH_Graph links;
    SCOTCH_Arch arch;
    struct application a;
    double best = INFINITY;
    SCOTCH_graphInit(&links);
    SCOTCH_archInit(&arch);
    make_application(in, nic, &a);
    int rc = in->tree_levels ? make_tree(in, &arch) : make_links(&in->problem, &links, &arch);
    if (!rc) {
        best = map(in, &a, &arch, nic, SCOTCH_STRATDEFAULT, slot_of);
        best = fmin(best, map(in, &a, &arch, nic, SCOTCH_STRATQUALITY, slot_of));
    }
    SCOTCH_archExit(&arch);
    SCOTCH_graphExit(&links);
    free(a.first);
    free(a.to);
    free(a.bytes);
    free(a.load);
    return best;
}
