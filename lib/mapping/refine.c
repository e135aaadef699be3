/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/refine.h"

#include <errno.h>
#include <string.h>

#include "mapping/descend.h"
#include "mapping/local_search.h"
#include "mapping/neighbourhood_search.h"

/* Moves task i to a random class: to a free slot there, or in exchange with a random task. */
static void kick(struct nuioa_class_assignment *s, uint32_t i, struct nuioa_random *random)
{
    const struct nuioa_graph *g = s->graph;
    uint32_t c = nuioa_random_below(random, g->class_count);
    uint32_t j = nuioa_random_below(random, g->count);
    if (c != s->at[i] && s->free_slots[c] && g->classes[c].kind == g->kind[i])
        nuioa_class_assignment_move(s, i, c);
    else if (s->at[j] != s->at[i] && g->kind[j] == g->kind[i])
        nuioa_class_assignment_swap(s, i, j);
}

static int kick_tasks(struct nuioa_class_assignment *s, struct nuioa_random *random,
                      struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = s->graph;
    uint64_t effort = nuioa_change_effort(g);
    uint32_t *best = nuioa_arena_take(&s->arena, g->count, sizeof(*best));
    int rc = best ? 0 : -ENOMEM;
    while (!rc && g->class_count > 1 && budget->evaluations < budget->limit) {
        double cost = s->cost;
        memcpy(best, s->at, g->count * sizeof(*best));
        for (uint32_t left = 2 + nuioa_random_below(random, 3); left > 0; left--)
            kick(s, nuioa_random_below(random, g->count), random);
        budget->evaluations += 8 * effort;
        rc = nuioa_descend(s, budget);
        if (s->cost > cost + nuioa_least_gain(s)) {
            memcpy(s->at, best, g->count * sizeof(*best));
            nuioa_assign_all(s);
            budget->evaluations += g->count * effort;
        }
    }
    return rc;
}

/* Small problems are changed anywhere, large ones a part at a time. */
static int search_on(struct nuioa_class_assignment *s, struct nuioa_budget *budget)
{
    enum { SMALL = 32 };
    struct nuioa_random random = { 0x9e3779b97f4a7c15 };
    return s->graph->count > SMALL ? nuioa_neighbourhood_search(s, &random, budget)
                                   : kick_tasks(s, &random, budget);
}

void nuioa_refine(const struct nuioa_problem *p, uint32_t *slot_of, bool thorough,
                  struct nuioa_budget *budget)
{
    struct nuioa_class_assignment assignment;
    if (!nuioa_class_assignment_open(&assignment, p->graph)) {
        nuioa_assign_slots(&assignment, slot_of);
        if (!(thorough ? search_on(&assignment, budget)
                       : nuioa_local_search(&assignment, true, INFINITY, budget)))
            nuioa_take_slots(p, assignment.at, slot_of);
    }
    nuioa_class_assignment_close(&assignment);
}
