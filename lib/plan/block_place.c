/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/block_place.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/plan_cost.h"
#include "slots/rank_block.h"
#include "slots/free_cores.h"

/* A trial has CPUs for each rank, and the CPUs to which ranks may move. */
struct trial {
    uint32_t count;
    hwloc_bitmap_t *cpus; /* [count] */
    hwloc_bitmap_t free_cpus;
};

static void trial_free(struct trial *t)
{
    for (uint32_t i = 0; t->cpus && i < t->count; i++)
        hwloc_bitmap_free(t->cpus[i]);
    free(t->cpus);
    hwloc_bitmap_free(t->free_cpus);
}

static int trial_alloc(struct trial *t, uint32_t count)
{
    *t = (struct trial){ count, calloc(count, sizeof(*t->cpus)), hwloc_bitmap_alloc() };
    bool all = t->cpus && t->free_cpus;
    for (uint32_t i = 0; all && i < count; i++)
        all = (t->cpus[i] = hwloc_bitmap_alloc());
    return all ? 0 : -ENOMEM;
}

/* Moves the block with the free cores among `among`; without any if that is NULL. Returns as
 * nuioa_rank_block_move does. */
static int try_among(const struct planner *p, const struct nuioa_slots *slots,
                     hwloc_const_bitmap_t among, struct trial *t)
{
    int rc = among ? nuioa_free_cores_find(&p->basis, among, t->free_cpus) : 0;
    bool any = among && !hwloc_bitmap_iszero(t->free_cpus);
    return rc < 0 ? rc
                  : nuioa_rank_block_move(&p->basis, slots, any ? t->free_cpus : NULL, t->cpus);
}

/* Returns true if some ranks can exchange masks of which one is nearer the NIC: then hints help. */
static bool hints_help(const struct nuioa_slots *slots)
{
    for (uint32_t i = 0; i < slots->count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (slots->kind[i] == slots->kind[k] && slots->nic_cost[i] != slots->nic_cost[k])
                return true;
    return false;
}

/* Returns the reason why nobody moves: of all sentences the one whose advice helps. */
static enum nuioa_reason why_not(const struct planner *p, const struct nuioa_slots *slots,
                                 int result, enum nuioa_reason refused, struct trial *t)
{
    if (result == NUIOA_RANK_BLOCK_SPREAD)
        return hints_help(slots) ? NUIOA_REASON_BLOCK_SPREAD : NUIOA_REASON_BLOCK_SPREAD_EQUAL;
    if (try_among(p, slots, nuioa_free_cores_advised(&p->basis, refused), t) ==
        NUIOA_RANK_BLOCK_MOVED)
        return refused == NUIOA_REASON_NONE ? NUIOA_REASON_BLOCK_NO_FREE : refused;
    return result == NUIOA_RANK_BLOCK_SEPARATES ? NUIOA_REASON_BLOCK_SEPARATES
                                                : NUIOA_REASON_BLOCK_NEAREST;
}

int nuioa_rank_block_place(struct planner *p, const struct nuioa_slots *slots)
{
    const enum nuioa_reason refused = nuioa_free_cores_refused(&p->basis);
    struct trial t;
    int result = trial_alloc(&t, slots->count), rc = result;
    if (rc == 0)
        result =
            try_among(p, slots, refused == NUIOA_REASON_NONE ? p->basis.allowed_cpus : NULL, &t);
    if (result < 0)
        rc = result;
    else if (result != NUIOA_RANK_BLOCK_MOVED)
        nuioa_planner_say(p, why_not(p, slots, result, refused, &t));
    bool moved = rc == 0 && result == NUIOA_RANK_BLOCK_MOVED;
    for (uint32_t i = 0; moved && rc == 0 && i < t.count; i++)
        if (hwloc_bitmap_copy(p->plan->assignments[i].cpus, t.cpus[i]) < 0)
            rc = -ENOMEM;
    if (moved && rc == 0)
        rc = nuioa_plan_judge(p, "block");
    if (moved && rc >= 0)
        nuioa_planner_say(p, NUIOA_REASON_BLOCK_MOVED);
    trial_free(&t);
    return rc;
}
