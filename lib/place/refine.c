#include <stddef.h>

#include "place.h"

/* What task `i` pays for its pairs if it sat in slot `s`, not counting the pair with `other`. */
static double pairs_of(const struct nuioa_problem *p, const uint32_t *slot_of, uint32_t i,
                       uint32_t s, uint32_t other)
{
    double cost = 0;
    const double *row = p->domain_cost + (size_t)p->domain[s] * p->domain_count;
    for (uint32_t k = 0; k < p->pair_count; k++) {
        const struct nuioa_pair *pair = &p->pairs[k];
        uint32_t peer = pair->first == i ? pair->second : pair->second == i ? pair->first : i;
        if (peer != i && peer != other)
            cost += pair->bytes * row[p->domain[slot_of[peer]]];
    }
    return cost;
}

static double swap_gain(const struct nuioa_problem *p, const uint32_t *slot_of, uint32_t i,
                        uint32_t j)
{
    uint32_t a = slot_of[i], b = slot_of[j];
    double gain = (p->weight[i] - p->weight[j]) * (p->nic_cost[a] - p->nic_cost[b]);
    if (p->pair_count)
        gain += pairs_of(p, slot_of, i, a, j) - pairs_of(p, slot_of, i, b, j) +
                pairs_of(p, slot_of, j, b, i) - pairs_of(p, slot_of, j, a, i);
    return gain;
}

void nuioa_refine(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    /* Below this a gain is rounding, and taking it could go in circles. */
    double worth = 1e-9 * nuioa_cost(p, slot_of);
    for (bool better = true; better;) {
        better = false;
        for (uint32_t i = 0; i < p->task_count; i++) {
            for (uint32_t j = i + 1; j < p->task_count; j++) {
                if (p->task_kind[i] != p->task_kind[j] ||
                    (p->pinned && (p->pinned[i] || p->pinned[j])))
                    continue;
                if (budget->evaluations++ >= budget->limit)
                    return;
                if (swap_gain(p, slot_of, i, j) <= worth)
                    continue;
                uint32_t slot = slot_of[i];
                slot_of[i] = slot_of[j];
                slot_of[j] = slot;
                better = true;
            }
        }
    }
}
