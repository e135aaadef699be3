/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"

#include <errno.h>

#include "slots/free_cores.h"
#include "slots/rank_block.h"
#include "slots/shape.h"
#include "slots/slot_pack.h"

/* --- the only rank ---------------------------------------------------------------------------- */

/* Gives the rank these CPUs, for the reason `why`, unless J would rise: farther away it may use a
 * faster NIC. */
static int move(struct planner *p, hwloc_const_bitmap_t cpus, enum nuioa_reason why)
{
    int rc = hwloc_bitmap_copy(p->plan->assignments[0].cpus, cpus) < 0 ? -ENOMEM : 0;
    if (rc == 0)
        rc = nuioa_plan_judge(p, "nearest");
    if (rc >= 0)
        nuioa_planner_say(p, rc == NUIOA_STANDS ? why : NUIOA_REASON_ALONE_COSTS);
    return rc;
}

bool nuioa_alone_is_wide(const struct planner *p)
{
    hwloc_const_bitmap_t cpus = p->plan->assignments[0].cpus;
    return nuioa_location_of(p->basis.request->node, cpus).wide;
}

/* Sets `cpus` to cores among `free_cpus` on the nearest NUMA node where the rank keeps its shape,
 * if that is nearer the NIC than its own. Returns true if there is one. */
static bool find_numa(const struct planner *p, hwloc_const_bitmap_t free_cpus, hwloc_bitmap_t cpus)
{
    const struct nuioa_node *node = p->basis.request->node;
    hwloc_const_bitmap_t own = p->plan->assignments[0].cpus;
    const struct nuioa_shape mask = { own, cpus };
    const uint32_t now = nuioa_rails_nearest(&p->basis.rails, own);
    for (uint32_t level = 0; level < now && level <= UINT8_MAX; level++)
        for (uint32_t numa = 0; numa < node->numa_count; numa++)
            if (nuioa_rails_nearest(&p->basis.rails, node->numas[numa].cpus) == level &&
                nuioa_shape_copy(&p->basis, free_cpus, numa, &mask, 1) == 0)
                return true;
    return false;
}

/* Sets `cpus` to CPUs nearer the NIC: of the free cores among `among`, and if the rank spans NUMA
 * nodes also of its own cores. Returns true if there are such. */
static bool find_nearer(const struct planner *p, hwloc_const_bitmap_t among, hwloc_bitmap_t cpus)
{
    hwloc_const_bitmap_t own = p->plan->assignments[0].cpus;
    hwloc_bitmap_t places = nuioa_free_cores_find(&p->basis, among);
    if (!places)
        return false;
    if (!nuioa_alone_is_wide(p))
        return find_numa(p, places, cpus);
    return hwloc_bitmap_or(places, places, own) == 0 &&
           nuioa_slot_nearer(&p->basis, places, own, cpus);
}

int nuioa_alone_place(struct planner *p)
{
    hwloc_bitmap_t cpus = nuioa_arena_bitmap(&p->arena, NULL);
    if (!cpus)
        return -ENOMEM;
    if (p->free_among && find_nearer(p, p->free_among, cpus))
        return move(p, cpus, NUIOA_REASON_ALONE_MOVED);
    bool helps = find_nearer(p, nuioa_free_cores_advised(&p->basis, p->refused), cpus);
    nuioa_planner_say(p, !helps          ? NUIOA_REASON_ALONE_NEAREST
                         : p->free_among ? NUIOA_REASON_ALONE_NO_FREE
                                         : p->refused);
    return 0;
}

int nuioa_alone_unbound(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_assignment *assignment = &p->plan->assignments[0];
    struct nuioa_slots slot = { 0 };
    const uint32_t typed = r->cpus_typed;
    int rc = typed ? nuioa_slots_pack(&slot, &p->basis, assignment->cpus, typed) : 0;
    if (rc == 0 && slot.count && !hwloc_bitmap_isequal(slot.cpus[0], assignment->cpus))
        rc = move(p, slot.cpus[0], NUIOA_REASON_ALONE_TYPED);
    else
        nuioa_planner_say(
            p, nuioa_alone_is_wide(p) && !r->cpus_typed
                   ? p->basis.follows ? NUIOA_REASON_ALONE_NOT_ASKED : NUIOA_REASON_ALONE_WIDE
               : nuioa_is_nearest(&p->basis, assignment->cpus) ||
                       hwloc_bitmap_isincluded(r->node->allowed_cpus, assignment->cpus)
                   ? NUIOA_REASON_ALONE_NEAREST
                   : NUIOA_REASON_ALONE_ALL);
    return rc == -ENOSPC ? 0 : rc;
}

/* --- several ranks ---------------------------------------------------------------------------- */

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
static bool hint_helps_first(const struct planner *p, const struct nuioa_slots *own)
{
    struct nuioa_slots slots;
    bool helps = false;
    if (nuioa_free_slots_make(&slots, &p->basis, own, p->free_among) < 0)
        return false;
    nuioa_slots_find_parts(&slots, own->count);
    for (uint32_t s = 1; s < slots.count; s++)
        helps |= slots.kind[s] == slots.kind[0] && slots.nic_cost[s] < slots.nic_cost[0];
    return helps;
}

/* Returns true if the block moves where `refused` does not hold, or in a step of the whole node. */
static bool helps(const struct planner *p, const struct nuioa_slots *slots,
                  enum nuioa_reason refused)
{
    return nuioa_rank_block_move(&p->basis, slots, nuioa_free_cores_advised(&p->basis, refused),
                                 p->plan->assignments) == NUIOA_RANK_BLOCK_MOVED;
}

/* Returns the reason why nobody moves: of all sentences the one whose advice helps. The CPUs in the
 * assignments are undefined then. */
static enum nuioa_reason why_not(const struct planner *p, const struct nuioa_slots *slots,
                                 int result)
{
    const bool wide = nuioa_location_of(p->basis.request->node, slots->cpus[0]).wide;
    const enum nuioa_reason spread =
        hints_help(slots) ? NUIOA_REASON_BLOCK_SPREAD : NUIOA_REASON_BLOCK_SPREAD_EQUAL;
    if (result == NUIOA_RANK_BLOCK_SPREAD)
        return spread;
    if (nuioa_is_nearest(&p->basis, slots->cpus[0]))
        return nuioa_nothing_nearer(&p->basis) ? NUIOA_REASON_EVEN : NUIOA_REASON_BLOCK_NEAREST;
    if (!p->free_among && helps(p, slots, p->refused))
        return p->refused;
    if (hint_helps_first(p, slots))
        return result == NUIOA_RANK_BLOCK_SEPARATES ? NUIOA_REASON_BLOCK_SEPARATES
                                                    : NUIOA_REASON_BLOCK_HINT;
    if (helps(p, slots, NUIOA_REASON_NONE))
        return NUIOA_REASON_BLOCK_NO_FREE;
    return wide ? spread : NUIOA_REASON_BLOCK_NO_ROOM;
}

int nuioa_rank_block_place(struct planner *p, const struct nuioa_slots *slots)
{
    int rc = nuioa_rank_block_move(&p->basis, slots, p->free_among, p->plan->assignments);
    if (rc < 0)
        return rc;
    if (rc == NUIOA_RANK_BLOCK_MOVED) {
        nuioa_planner_say(p, NUIOA_REASON_BLOCK_MOVED);
        return nuioa_plan_judge(p, "block");
    }
    nuioa_planner_say(p, why_not(p, slots, rc));
    return nuioa_plan_keep(p);
}
