/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

struct search {
    uint32_t tasks, domains;
    double bytes[MOST][MOST]; /* tasks in the order of branching */
    double price[MOST][MOST]
                [MOST];  /* [depth][task][domain]: the first `depth` tasks are assigned */
    double inside[MOST]; /* [depth]: lower bound for pairs among the tasks from depth on */
    double distance[MOST][MOST];
    uint32_t free_slots[MOST]; /* of each domain */
    double best;
};

/* Returns a lower bound for the cost of the tasks from `depth` on. */
static double bound_from(const struct search *s, uint32_t depth)
{
    double bound = s->inside[depth];
    for (uint32_t i = depth; i < s->tasks; i++) {
        double least = -1;
        for (uint32_t d = 0; d < s->domains; d++)
            if (s->free_slots[d] && (least < 0 || s->price[depth][i][d] < least))
                least = s->price[depth][i][d];
        bound += least;
    }
    return bound;
}

/* Branches over the domains for task `depth`. `cost` is that of the tasks before it. */
static void assign(struct search *s, uint32_t depth, double cost)
{
    if (depth == s->tasks) {
        s->best = cost < s->best ? cost : s->best;
        return;
    }
    if (cost + bound_from(s, depth) >= s->best * (1 - 1e-12))
        return;
    for (uint32_t d = 0; d < s->domains; d++) {
        if (!s->free_slots[d])
            continue;
        s->free_slots[d]--;
        for (uint32_t i = depth + 1; i < s->tasks; i++)
            for (uint32_t e = 0; e < s->domains; e++)
                s->price[depth + 1][i][e] =
                    s->price[depth][i][e] + s->bytes[depth][i] * s->distance[d][e];
        assign(s, depth + 1, cost + s->price[depth][depth][d]);
        s->free_slots[d]++;
    }
}

/* Sorts the tasks by descending traffic with the others. */
static void order_tasks(const struct nuioa_problem *p, uint32_t *order)
{
    double bytes[MOST] = { 0 };
    for (uint32_t k = 0; k < p->pair_count; k++) {
        bytes[p->pairs[k].first] += p->pairs[k].bytes;
        bytes[p->pairs[k].second] += p->pairs[k].bytes;
    }
    for (uint32_t i = 0; i < p->task_count; i++) {
        uint32_t k = i;
        for (; k > 0 && bytes[i] > bytes[order[k - 1]]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

double exact_cost(const struct nuioa_problem *p, double known)
{
    struct search *s = calloc(1, sizeof(*s));
    uint32_t order[MOST], index[MOST];
    double nearest = -1;
    if (!s || p->task_count >= MOST || p->domain_count > MOST)
        abort();
    s->tasks = p->task_count;
    s->domains = p->domain_count;
    s->best = known;
    order_tasks(p, order);
    for (uint32_t i = 0; i < s->tasks; i++)
        index[order[i]] = i;
    for (uint32_t slot = 0; slot < p->slot_count; slot++) {
        uint32_t d = p->domain[slot];
        s->free_slots[d]++;
        for (uint32_t i = 0; i < s->tasks; i++)
            s->price[0][i][d] = p->weight[order[i]] * p->nic_cost[slot];
    }
    for (uint32_t a = 0; a < s->domains; a++)
        for (uint32_t b = 0; b < s->domains; b++) {
            double d = s->distance[a][b] = p->domain_cost[a * s->domains + b];
            if (s->free_slots[a] && s->free_slots[b] && (a != b || s->free_slots[a] > 1) &&
                (nearest < 0 || d < nearest))
                nearest = d;
        }
    for (uint32_t k = 0; k < p->pair_count; k++) {
        uint32_t a = index[p->pairs[k].first], b = index[p->pairs[k].second];
        s->bytes[a][b] += p->pairs[k].bytes;
        s->bytes[b][a] += p->pairs[k].bytes;
        for (uint32_t depth = 0; depth <= (a < b ? a : b); depth++)
            s->inside[depth] += p->pairs[k].bytes * nearest;
    }
    assign(s, 0, 0);
    double best = s->best;
    free(s);
    return best;
}
