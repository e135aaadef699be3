/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_SEARCH_H
#define NUIOA_MAPPING_SEARCH_H

#include "mapping/class_assignment.h"

/* A generator of its own: same sequence on every machine. Seed: not 0. */
struct nuioa_random {
    uint64_t state;
};

static inline uint32_t nuioa_random_below(struct nuioa_random *random, uint32_t bound)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return (uint32_t)((random->state >> 32) * bound >> 32);
}

/* True while there is some budget left. */
static inline bool nuioa_spend(struct nuioa_budget *budget, uint64_t evaluations)
{
    budget->evaluations += evaluations;
    return budget->evaluations < budget->limit;
}

/* Ways to a lower J from where everybody sits. All stop when the budget is used up, in a valid
 * state, and leave J no higher than they found it. */

/* Exchanges the whole contents of two classes wherever that lowers J: puts groups that are right
 * where they belong. Where that ends, shuffles some groups and tries again, `kicks` times. 0 or
 * -ENOMEM. */
int nuioa_swap_classes(struct nuioa_class_assignment *assignment, uint32_t kicks,
                       struct nuioa_budget *budget);

/* As many kicks as cost little beside the swaps of single tasks. */
static inline uint32_t nuioa_cheap_kicks(const struct nuioa_graph *graph)
{
    return graph->class_count <= 8 ? 32 : graph->class_count <= 16 ? 4 : 0;
}

/* Swaps two tasks, or moves one to an empty seat, until nothing lowers J. 0 or -ENOMEM. */
int nuioa_descend(struct nuioa_class_assignment *assignment, struct nuioa_budget *budget);

/* Divides the members of two classes anew, pair of classes by pair, while J falls. 0 or -ENOMEM. */
int nuioa_refine_pairs(struct nuioa_class_assignment *assignment, struct nuioa_budget *budget);

/* All three in turn; recutting and what follows only where J is near `best`: a seating further
 * behind does not catch up. INFINITY: always. 0 or -ENOMEM. */
int nuioa_settle(struct nuioa_class_assignment *assignment, uint32_t kicks, double best,
                 struct nuioa_budget *budget);

/* Takes everybody out of some classes and maps them anew, by bisection, those elsewhere staying
 * put; kept if J falls. Some other classes next, until the budget is used up: what is wrong about a
 * part of the machine is mended without another start from nothing. 0 or -ENOMEM. */
int nuioa_neighbourhood_search(struct nuioa_class_assignment *assignment,
                               struct nuioa_random *random, struct nuioa_budget *budget);

/* Simulated annealing over `steps` tried swaps, then descent; `heat` is the starting temperature in
 * mean changes of J by a random swap: 0.3 forgets where it came from, 0.02 only shakes. Ends at the
 * best seen. 0 or -ENOMEM. */
int nuioa_anneal(struct nuioa_class_assignment *assignment, struct nuioa_random *random,
                 double heat, uint64_t steps, struct nuioa_budget *budget);

#endif
