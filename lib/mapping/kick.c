/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/kick.h"

#include <errno.h>
#include <string.h>

#include "mapping/descend.h"

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

int nuioa_kick_tasks(struct nuioa_class_assignment *s, struct nuioa_random *random,
                     struct nuioa_budget *budget)
{
    const struct nuioa_graph *g = s->graph;
    uint64_t effort = nuioa_change_effort(g);
    struct nuioa_arena scratch = { 0 };
    uint32_t *best = nuioa_arena_take(&scratch, g->count, sizeof(*best));
    int rc = scratch.failed ? -ENOMEM : 0;
    while (!rc && g->class_count > 1 && budget->evaluations < budget->limit) {
        double cost = s->cost;
        memcpy(best, s->at, g->count * sizeof(*best));
        for (uint32_t left = 2 + nuioa_random_below(random, 3); left > 0; left--)
            kick(s, nuioa_random_below(random, g->count), random);
        budget->evaluations += 8 * effort;
        rc = nuioa_descend(s, budget);
        if (s->cost > cost + nuioa_least_gain(s)) {
            nuioa_assign_all(s, best);
            budget->evaluations += g->count * effort;
        }
    }
    nuioa_arena_free(&scratch);
    return rc;
}
