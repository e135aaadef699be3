/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/alone.h"

#include <errno.h>

#include "plan/plan_judge.h"
#include "slots/slot_pack.h"
#include "slots/free_cores.h"

/* Gives the rank these CPUs, for the reason `why`, unless J would rise: farther away it may use
 * more NICs. */
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
    const struct nuioa_pu *pu = nuioa_first_pu(p->basis.request->node, cpus);
    return pu && !nuioa_in_one_numa(p->basis.request->node, pu, cpus);
}

/* Sets `cpus` to cores among `free_cpus` on the nearest NUMA node where the rank keeps its shape,
 * if that is nearer the NIC than its own. Returns true if there is one. */
static bool find_numa(const struct planner *p, hwloc_const_bitmap_t free_cpus, hwloc_bitmap_t cpus)
{
    const struct nuioa_node *node = p->basis.request->node;
    hwloc_const_bitmap_t own = p->plan->assignments[0].cpus;
    const struct nuioa_shape mask = { own, cpus };
    uint32_t best = nuioa_rails_nearest(&p->basis.rails, own), found = UINT32_MAX;
    for (uint32_t numa = 0; numa < node->numa_count; numa++)
        if (nuioa_rails_nearest(&p->basis.rails, node->numas[numa].cpus) < best &&
            nuioa_free_cores_copy(&p->basis.rails, free_cpus, numa, &mask, 1) == 0) {
            best = nuioa_rails_nearest(&p->basis.rails, node->numas[numa].cpus);
            found = numa;
        }
    return found != UINT32_MAX &&
           nuioa_free_cores_copy(&p->basis.rails, free_cpus, found, &mask, 1) == 0;
}

/* Sets `cpus` to CPUs nearer the NIC: of the free cores among `among`, and if the rank spans NUMA
 * nodes also of its own cores. Returns true if there are such. */
static bool find_nearer(const struct planner *p, hwloc_const_bitmap_t among, hwloc_bitmap_t cpus)
{
    hwloc_const_bitmap_t own = p->plan->assignments[0].cpus;
    hwloc_bitmap_t places = hwloc_bitmap_alloc();
    bool found = places && nuioa_free_cores_find(&p->basis, among, places) == 0;
    if (found && !nuioa_alone_is_wide(p))
        found = find_numa(p, places, cpus);
    else if (found)
        found = hwloc_bitmap_or(places, places, own) == 0 &&
                nuioa_slot_nearer(&p->basis, places, own, cpus);
    hwloc_bitmap_free(places);
    return found;
}

int nuioa_alone_place(struct planner *p)
{
    const enum nuioa_reason refused = nuioa_free_cores_refused(&p->basis);
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    int rc = cpus ? 0 : -ENOMEM;
    if (cpus && refused == NUIOA_REASON_NONE && find_nearer(p, p->basis.allowed_cpus, cpus))
        rc = move(p, cpus, NUIOA_REASON_ALONE_MOVED);
    else if (cpus && find_nearer(p, nuioa_free_cores_advised(&p->basis, refused), cpus))
        nuioa_planner_say(p, refused == NUIOA_REASON_NONE ? NUIOA_REASON_ALONE_NO_FREE : refused);
    else
        nuioa_planner_say(p, NUIOA_REASON_ALONE_NEAREST);
    hwloc_bitmap_free(cpus);
    return rc;
}

int nuioa_alone_unbound(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_assignment *assignment = &p->plan->assignments[0];
    struct nuioa_slots slot = { 0 };
    int rc = 0;
    if (r->cpus_typed)
        rc = nuioa_slots_pack(&slot, &p->basis, assignment->cpus, r->cpus_typed);
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
    nuioa_slots_free(&slot);
    return rc == -ENOSPC ? 0 : rc;
}
