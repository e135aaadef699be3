/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/cost.h"

#include <stdlib.h>

#include "mapping/hopsort.h"
#include "mapping/load.h"

static double pair_cost(const struct nuioa_problem *p, const struct nuioa_pair *pair, uint32_t a,
                        uint32_t b)
{
    return pair->bytes * p->domain_cost[(size_t)p->domain[a] * p->domain_count + p->domain[b]];
}

double nuioa_cost(const struct nuioa_problem *p, const uint32_t *slot_of)
{
    double cost = 0;
    for (uint32_t i = 0; i < p->task_count; i++)
        cost += p->weight[i] * p->nic_cost[slot_of[i]];
    for (uint32_t k = 0; k < p->pair_count; k++)
        cost += pair_cost(p, &p->pairs[k], slot_of[p->pairs[k].first], slot_of[p->pairs[k].second]);
    if (p->load) {
        double load[NUIOA_CARDS_MAX];
        cost += p->load->price * (nuioa_loads(p, slot_of, load, NULL) - nuioa_load_even(p));
    }
    return cost;
}

/* Hop sort without pinned tasks gives the exact minimum of the first term. */
double nuioa_cost_bound(const struct nuioa_problem *p)
{
    uint32_t *slot_of = malloc(p->task_count * sizeof(*slot_of));
    struct nuioa_problem weights_only = *p;
    struct nuioa_budget budget = { 0, UINT64_MAX };
    weights_only.load = NULL;
    weights_only.pair_count = 0;
    weights_only.pinned = NULL;
    if (!slot_of || nuioa_hopsort.map(&weights_only, slot_of, &budget) < 0) {
        free(slot_of);
        return 0;
    }
    double bound = nuioa_cost(&weights_only, slot_of);
    free(slot_of);

    double cheapest = 0, bytes = 0;
    for (size_t i = 0; p->pair_count && i < (size_t)p->domain_count * p->domain_count; i++)
        if (!i || p->domain_cost[i] < cheapest)
            cheapest = p->domain_cost[i];
    for (uint32_t k = 0; k < p->pair_count; k++)
        bytes += p->pairs[k].bytes;
    if (p->load)
        bound += p->load->price * (nuioa_load_bound(p) - nuioa_load_even(p));
    return bound + bytes * cheapest;
}
