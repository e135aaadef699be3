/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/optimum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapping/load.h"

enum { MOST = 16, CARDS = 6, SETS = 1 << CARDS, STEPS_MAX = 30000 };

struct optimum {
    const struct nuioa_problem *p;
    uint32_t task[MOST];   /* in the order of branching */
    uint32_t chosen[MOST]; /* the class of each */
    uint32_t class_count;
    uint32_t free_slots[MOST], slot[MOST]; /* of each class: how many are free; one of them */
    double bytes[MOST][MOST];              /* between tasks in the order of branching */
    double distance[MOST][MOST];           /* between slots of two classes; inside one class */
    double price[MOST][MOST][MOST]; /* [depth][task][class]: nearer terms of J, when the first
                                              `depth` tasks are assigned */
    double inside[MOST + 1]; /* [depth]: the least cost of pairs among the tasks from depth on */
    double within[MOST + 1][SETS]; /* [depth][set]: weight that only cards of the set can carry */
    double part[SETS];             /* of the rates of all cards */
    double even, best;
    uint32_t steps;
};

static bool fits(const struct optimum *o, uint32_t depth, uint32_t slot_class)
{
    return o->free_slots[slot_class] &&
           o->p->kind[o->slot[slot_class]] == o->p->task_kind[o->task[depth]];
}

/* Returns a lower bound of what the tasks from `depth` on, and the load, add to J. */
static double bound_from(const struct optimum *o, uint32_t depth)
{
    const struct nuioa_load *l = o->p->load;
    double bound = o->inside[depth], most = o->even;
    for (uint32_t i = depth; i < o->p->task_count; i++) {
        double least = INFINITY;
        for (uint32_t k = 0; k < o->class_count; k++)
            if (fits(o, i, k) && o->price[depth][i][k] < least)
                least = o->price[depth][i][k];
        bound += least;
    }
    for (uint32_t set = 1; set < 1u << l->card_count; set++)
        most = fmax(most, o->within[depth][set] / o->part[set]);
    return bound + l->price * (most - o->even);
}

/* Assigns task `depth` to class `k` and computes what the others would pay then. */
static void assign(struct optimum *o, uint32_t depth, uint32_t k)
{
    const struct nuioa_load *l = o->p->load;
    uint64_t near = l->near[o->slot[k]];
    o->chosen[depth] = k;
    for (uint32_t set = 1; set < 1u << l->card_count; set++)
        o->within[depth + 1][set] =
            o->within[depth][set] + (near & ~(uint64_t)set ? 0 : l->weight[o->task[depth]]);
    for (uint32_t i = depth + 1; i < o->p->task_count; i++)
        for (uint32_t other = 0; other < o->class_count; other++)
            o->price[depth + 1][i][other] =
                o->price[depth][i][other] + o->bytes[depth][i] * o->distance[k][other];
}

/* Tries all classes for task `depth`. `cost` is that of the tasks before it, without the load. */
static void branch(struct optimum *o, uint32_t depth, double cost)
{
    double least = cost + bound_from(o, depth);
    if (++o->steps > STEPS_MAX || least >= o->best - 1e-12 * fabs(o->best))
        return;
    if (depth == o->p->task_count) {
        o->best = least;
        return;
    }
    /* Tasks that are equal are interchangeable. */
    const double *weight = o->p->weight, *loading = o->p->load->weight;
    uint32_t t = o->task[depth], u = depth ? o->task[depth - 1] : t, first = 0;
    if (depth && !o->p->pair_count && weight[t] == weight[u] && loading[t] == loading[u] &&
        o->p->task_kind[t] == o->p->task_kind[u])
        first = o->chosen[depth - 1];
    for (uint32_t k = first; k < o->class_count; k++) {
        if (!fits(o, depth, k))
            continue;
        assign(o, depth, k);
        o->free_slots[k]--;
        branch(o, depth + 1, cost + o->price[depth][depth][k]);
        o->free_slots[k]++;
    }
}

/* Sorts the tasks: those with most traffic first. */
static void order_tasks(struct optimum *o)
{
    const struct nuioa_problem *p = o->p;
    double traffic[MOST];
    memcpy(traffic, p->weight, p->task_count * sizeof(*traffic));
    for (uint32_t k = 0; k < p->pair_count; k++) {
        traffic[p->pairs[k].first] += p->pairs[k].bytes;
        traffic[p->pairs[k].second] += p->pairs[k].bytes;
    }
    for (uint32_t i = 0; i < p->task_count; i++) {
        uint32_t k = i;
        for (; k > 0 && traffic[i] > traffic[o->task[k - 1]]; k--)
            o->task[k] = o->task[k - 1];
        o->task[k] = i;
    }
}

static void add_pairs(struct optimum *o)
{
    const struct nuioa_problem *p = o->p;
    uint32_t index[MOST];
    double nearest = INFINITY;
    for (uint32_t i = 0; i < p->task_count; i++)
        index[o->task[i]] = i;
    for (uint32_t a = 0; a < o->class_count; a++)
        for (uint32_t b = 0; b < o->class_count; b++) {
            o->distance[a][b] = p->domain_cost[(size_t)p->domain[o->slot[a]] * p->domain_count +
                                               p->domain[o->slot[b]]];
            nearest = fmin(nearest, o->distance[a][b]);
        }
    for (uint32_t k = 0; k < p->pair_count; k++) {
        uint32_t a = index[p->pairs[k].first], b = index[p->pairs[k].second];
        o->bytes[a][b] = o->bytes[b][a] = p->pairs[k].bytes;
        for (uint32_t depth = 0; depth <= (a < b ? a : b); depth++)
            o->inside[depth] += p->pairs[k].bytes * nearest;
    }
}

static void prepare(struct optimum *o, const uint32_t *class_of)
{
    const struct nuioa_problem *p = o->p;
    for (uint32_t s = 0; s < p->slot_count; s++)
        o->free_slots[class_of[s]]++;
    order_tasks(o);
    for (uint32_t i = 0; i < p->task_count; i++)
        for (uint32_t k = 0; k < o->class_count; k++)
            o->price[0][i][k] = p->weight[o->task[i]] * p->nic_cost[o->slot[k]];
    for (uint32_t set = 1; set < 1u << p->load->card_count; set++)
        for (uint32_t c = 0; c < p->load->card_count; c++)
            if (set >> c & 1) {
                o->within[0][set] += p->load->fixed[c];
                o->part[set] += p->load->part[c];
            }
    o->even = nuioa_load_even(p);
    if (p->pair_count)
        add_pairs(o);
}

double nuioa_optimum(const struct nuioa_problem *p, double known, struct nuioa_budget *budget)
{
    double result = -INFINITY;
    uint32_t *class_of = malloc(2 * (size_t)p->slot_count * sizeof(*class_of));
    struct optimum *o = calloc(1, sizeof(*o));
    if (class_of && o && p->task_count <= MOST && p->load->card_count <= CARDS && !p->pinned) {
        uint32_t *first = class_of + p->slot_count;
        o->p = p;
        o->best = known;
        o->class_count = nuioa_number_classes(p, class_of, first);
        if (o->class_count <= MOST) {
            memcpy(o->slot, first, o->class_count * sizeof(*first));
            prepare(o, class_of);
            branch(o, 0, 0);
            budget->evaluations += o->steps;
            result = o->steps > STEPS_MAX ? -INFINITY : o->best;
        }
    }
    free(class_of);
    free(o);
    return result;
}
