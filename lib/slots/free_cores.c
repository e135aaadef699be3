/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/free_cores.h"

#include <errno.h>

#include "nics/gpu_distance.h"
#include "slots/core.h"
#include "slots/shape.h"

enum nuioa_reason nuioa_free_cores_shared(const struct nuioa_basis *b)
{
    return b->request->unconfined ? NUIOA_REASON_FREE_UNCONFINED
           : b->request->overlaps ? NUIOA_REASON_FREE_OVERLAP
                                  : NUIOA_REASON_NONE;
}

enum nuioa_reason nuioa_free_cores_refused(const struct nuioa_basis *b)
{
    const struct nuioa_request *r = b->request;
    if (r->bound_by_user)
        return NUIOA_REASON_FREE_BOUND;
    if (r->sees_gpu && !b->follows)
        return NUIOA_REASON_FREE_GPUS;
    if (nuioa_free_cores_shared(b) != NUIOA_REASON_NONE)
        return nuioa_free_cores_shared(b);
    if (r->options->cores == NUIOA_CORES_KEEP || r->options->cores == NUIOA_CORES_PACK)
        return NUIOA_REASON_FREE_KEEP;
    return r->options->asked ? NUIOA_REASON_NONE : NUIOA_REASON_FREE_NOT_ASKED;
}

hwloc_const_bitmap_t nuioa_free_cores_advised(const struct nuioa_basis *b,
                                              enum nuioa_reason refused)
{
    bool any = refused == NUIOA_REASON_NONE || refused == NUIOA_REASON_FREE_UNCONFINED;
    return any ? b->request->node->allowed_cpus : b->allowed_cpus;
}

hwloc_bitmap_t nuioa_free_cores_find(const struct nuioa_basis *b, hwloc_const_bitmap_t cpus)
{
    const struct nuioa_node *node = b->request->node;
    hwloc_bitmap_t free_cpus = nuioa_arena_bitmap(b->arena, NULL);
    for (uint32_t i = 0, end; free_cpus && i < node->pu_count; i = end) {
        bool free = true;
        end = nuioa_core_end(node, i);
        for (uint32_t k = i; free && k < end; k++)
            free = hwloc_bitmap_isset(cpus, node->pus[k].os_index) &&
                   !hwloc_bitmap_isset(b->rank_cpus, node->pus[k].os_index);
        for (uint32_t k = i; free && k < end; k++)
            if (hwloc_bitmap_set(free_cpus, node->pus[k].os_index) < 0)
                return NULL;
    }
    return free_cpus;
}

/* --- slots of free cores ---------------------------------------------------------------------- */

/* Returns true if all slots have the shape of the first one, each on one NUMA node. */
static bool have_one_shape(const struct nuioa_basis *b, const struct nuioa_slots *own)
{
    const struct nuioa_node *node = b->request->node;
    const struct nuioa_pu *first = nuioa_first_pu(node, own->cpus[0]);
    hwloc_bitmap_t cores = nuioa_arena_bitmap(b->arena, NULL);
    hwloc_bitmap_t copy = nuioa_arena_bitmap(b->arena, NULL);
    bool small = (own->kind[0] & 0xffff) == 1; /* of one core: there is one shape */
    bool same = cores && copy && nuioa_cores_whole(node, own->cpus[0], cores) == 0;
    for (uint32_t i = 0; same && i < own->count; i++) {
        const struct nuioa_location at = nuioa_location_of(node, own->cpus[i]);
        const struct nuioa_shape mask = { own->cpus[i], copy };
        same = at.pu && at.pu->numa >= 0 && !at.wide && own->kind[i] == own->kind[0] &&
               (small || nuioa_shape_copy(b, cores, (uint32_t)first->numa, &mask, 1) == 0);
    }
    return same;
}

/* Returns the number of slots on a NUMA node. */
static uint32_t count_on(const struct nuioa_node *node, const struct nuioa_slots *own,
                         uint32_t numa)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < own->count; i++)
        count += hwloc_bitmap_intersects(own->cpus[i], node->numas[numa].cpus);
    return count;
}

/* Returns true if slots on a NUMA node may help some task: they are nearer the NIC than its mask,
 * or as near with several NICs, which may be loaded more evenly. Where CPUs follow GPUs they are
 * nearer its GPUs; or as near, and this is so for its NIC, with hints, if ranks may have them. */
static bool may_help(const struct nuioa_basis *b, const struct nuioa_slots *own, uint32_t numa)
{
    const struct nuioa_request *r = b->request;
    hwloc_const_bitmap_t there = r->node->numas[numa].cpus;
    const bool by_nic =
        !b->follows || (r->hinted && nuioa_free_cores_refused(b) == NUIOA_REASON_NONE);
    const bool several = b->rails.located && b->rails.count > 1;
    for (uint32_t i = 0; i < own->count; i++) {
        uint32_t level = b->follows ? nuioa_gpu_level(r->node, &r->tasks[i], there) : 0;
        uint32_t now = b->follows ? nuioa_gpu_level(r->node, &r->tasks[i], own->cpus[i]) : 0;
        uint32_t near = nuioa_nic_level(b, i, there), far = nuioa_nic_level(b, i, own->cpus[i]);
        if (level < now || (level == now && by_nic && (near < far || (near == far && several))))
            return true;
    }
    return false;
}

/* Adds slots of free cores to the first own->count ones, which are there. */
static int add_free(struct nuioa_slots *slots, const struct nuioa_basis *b,
                    const struct nuioa_slots *own, hwloc_bitmap_t free_cpus, uint32_t most)
{
    const struct nuioa_node *node = b->request->node;
    hwloc_bitmap_t used = nuioa_arena_bitmap(b->arena, NULL);
    int rc = used ? 0 : -ENOMEM;
    for (uint32_t numa = 0; rc == 0 && numa < node->numa_count; numa++) {
        bool near = may_help(b, own, numa);
        for (uint32_t n = count_on(node, own, numa); rc == 0 && near && n < most; n++) {
            struct nuioa_shape mask = { own->cpus[0], nuioa_arena_bitmap(b->arena, NULL) };
            rc = mask.out ? nuioa_shape_copy(b, free_cpus, numa, &mask, 1) : -ENOMEM;
            if (rc < 0)
                break;
            slots->cpus[slots->count++] = mask.out;
            rc = nuioa_cores_whole(node, mask.out, used);
            hwloc_bitmap_andnot(free_cpus, free_cpus, used);
        }
        rc = rc == -ENOSPC ? 0 : rc;
    }
    return rc;
}

int nuioa_free_slots_make(struct nuioa_slots *slots, const struct nuioa_basis *b,
                          const struct nuioa_slots *own, hwloc_const_bitmap_t among)
{
    const struct nuioa_node *node = b->request->node;
    bool any = among && have_one_shape(b, own);
    hwloc_bitmap_t free_cpus = any ? nuioa_free_cores_find(b, among) : NULL;
    uint32_t most = 0, numas = free_cpus && !hwloc_bitmap_iszero(free_cpus) ? node->numa_count : 0;
    for (uint32_t numa = 0; numa < numas; numa++) {
        uint32_t count = b->follows ? own->count : count_on(node, own, numa);
        most = count > most ? count : most;
    }
    int rc = any && !free_cpus ? -ENOMEM : nuioa_slots_keep(slots, b, numas * most);
    if (rc == 0 && numas)
        rc = add_free(slots, b, own, free_cpus, most);
    return rc == 0 ? nuioa_slots_price(slots, b) : rc;
}
