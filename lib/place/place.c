#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which they are tried; the first of equals wins. */
static const struct nuioa_mapper *const mappers[] = {&nuioa_hopsort};

/* Enough for many rounds of swaps at 512 tasks; what is counted is the same on every machine. */
static uint64_t budget_for(const struct nuioa_problem *p)
{
    return 64 * (uint64_t)p->task_count * p->task_count + 4096;
}

int nuioa_place(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_mapping *mapping)
{
    size_t bytes = p->task_count * sizeof(*slot_of);
    uint32_t *candidate = malloc(bytes ? bytes : 1);
    memcpy(slot_of, p->start, bytes);
    *mapping = (struct nuioa_mapping){.mapper = "keep", .cost_start = nuioa_cost(p, p->start)};
    mapping->cost = mapping->bound = mapping->cost_start;
    if (!candidate)
        return -ENOMEM;

    struct nuioa_budget budget = {0, budget_for(p)};
    for (size_t m = 0; m < sizeof(mappers) / sizeof(*mappers); m++) {
        if (mappers[m]->map(p, candidate, &budget) < 0)
            continue;
        if (p->pair_count)
            nuioa_refine(p, candidate, &budget);
        double cost = nuioa_cost(p, candidate);
        /* Rounding alone is no reason to move anybody. */
        if (cost < mapping->cost - 1e-12 * mapping->cost_start) {
            memcpy(slot_of, candidate, bytes);
            mapping->cost = cost;
            mapping->mapper = mappers[m]->name;
        }
    }
    mapping->bound = nuioa_cost_bound(p);
    mapping->evaluations = budget.evaluations;
    free(candidate);
    return 0;
}
