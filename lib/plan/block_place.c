/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/block_place.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/plan_judge.h"
#include "slots/rank_block.h"
#include "slots/free_cores.h"
#include "slots/free_slots.h"

/* Moves the block with the free cores among `among`; without any if that is NULL. Sets the CPUs in
 * the assignments. Returns as nuioa_rank_block_move does. */
static int try_among(const struct planner *p, const struct nuioa_slots *slots,
                     hwloc_const_bitmap_t among)
{
    hwloc_bitmap_t *cpus = malloc(slots->count * sizeof(hwloc_bitmap_t));
    hwloc_bitmap_t free_cpus = hwloc_bitmap_alloc();
    int rc = cpus && free_cpus ? 0 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < slots->count; i++)
        cpus[i] = p->plan->assignments[i].cpus;
    if (rc == 0 && among)
        rc = nuioa_free_cores_find(&p->basis, among, free_cpus);
    bool any = rc == 0 && !hwloc_bitmap_iszero(free_cpus);
    if (rc == 0)
        rc = nuioa_rank_block_move(&p->basis, slots, any ? free_cpus : NULL, cpus);
    hwloc_bitmap_free(free_cpus);
    free(cpus);
    return rc;
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

/* Returns true if the lowest rank alone could have a mask nearer the NIC, or such free cores. */
static bool hint_helps_first(const struct planner *p, const struct nuioa_slots *own,
                             enum nuioa_reason refused)
{
    struct nuioa_slots slots;
    bool helps = false;
    int rc = nuioa_free_slots_make(&slots, &p->basis, own,
                                   refused == NUIOA_REASON_NONE ? p->basis.allowed_cpus : NULL);
    nuioa_slots_find_parts(&slots, rc == 0 ? own->count : 0, p->basis.request->node);
    for (uint32_t s = 1; rc == 0 && s < slots.count; s++)
        helps |= slots.kind[s] == slots.kind[0] && slots.nic_cost[s] < slots.nic_cost[0];
    nuioa_slots_free(&slots);
    return helps;
}

/* Returns true if the block moves where `refused` does not hold, or in a step of the whole node. */
static bool helps(const struct planner *p, const struct nuioa_slots *slots,
                  enum nuioa_reason refused)
{
    return try_among(p, slots, nuioa_free_cores_advised(&p->basis, refused)) ==
           NUIOA_RANK_BLOCK_MOVED;
}

/* Returns the reason why nobody moves: of all sentences the one whose advice helps. The CPUs in the
 * assignments are undefined then. */
static enum nuioa_reason why_not(const struct planner *p, const struct nuioa_slots *slots,
                                 int result, enum nuioa_reason refused)
{
    if (result == NUIOA_RANK_BLOCK_SPREAD)
        return hints_help(slots) ? NUIOA_REASON_BLOCK_SPREAD : NUIOA_REASON_BLOCK_SPREAD_EQUAL;
    if (nuioa_is_nearest(&p->basis, slots->cpus[0]))
        return nuioa_nothing_nearer(&p->basis) ? NUIOA_REASON_EVEN : NUIOA_REASON_BLOCK_NEAREST;
    if (refused != NUIOA_REASON_NONE && helps(p, slots, refused))
        return refused;
    if (hint_helps_first(p, slots, refused))
        return result == NUIOA_RANK_BLOCK_SEPARATES ? NUIOA_REASON_BLOCK_SEPARATES
                                                    : NUIOA_REASON_BLOCK_HINT;
    if (helps(p, slots, NUIOA_REASON_NONE))
        return NUIOA_REASON_BLOCK_NO_FREE;
    if (!nuioa_location_of(p->basis.request->node, slots->cpus[0]).wide)
        return NUIOA_REASON_BLOCK_NO_ROOM;
    return hints_help(slots) ? NUIOA_REASON_BLOCK_SPREAD : NUIOA_REASON_BLOCK_SPREAD_EQUAL;
}

int nuioa_rank_block_place(struct planner *p, const struct nuioa_slots *slots)
{
    const enum nuioa_reason refused = nuioa_free_cores_refused(&p->basis);
    int rc = try_among(p, slots, refused == NUIOA_REASON_NONE ? p->basis.allowed_cpus : NULL);
    if (rc < 0)
        return rc;
    if (rc == NUIOA_RANK_BLOCK_MOVED) {
        nuioa_planner_say(p, NUIOA_REASON_BLOCK_MOVED);
        return nuioa_plan_judge(p, "block");
    }
    nuioa_planner_say(p, why_not(p, slots, rc, refused));
    return nuioa_plan_keep(p);
}
