/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"

#include <errno.h>
#include <math.h>

#include "mapping/mapping.h"
#include "nics/gpu_distance.h"
#include "slots/free_cores.h"
#include "slots/gpu_slots.h"
#include "slots/rail_load.h"
#include "slots/slot_pack.h"
#include "slots/slot_share.h"

/* Returns the reason why no rank may move, or NUIOA_REASON_NONE if ranks may move. */
static enum nuioa_reason must_stay(const struct nuioa_request *r)
{
    const struct nuioa_options *o = r->options;
    if (o->mode == NUIOA_EXPORT)
        return NUIOA_REASON_EXPORT;
    if (o->mode != NUIOA_ON)
        return NUIOA_REASON_OFF;
    if (r->stay)
        return r->stay;
    if (r->node->cut)
        return NUIOA_REASON_NUMA_CUT;
    if (r->bound_by_user && !o->force)
        return r->bound_by_outer ? NUIOA_REASON_CPU_BIND_OUTER : NUIOA_REASON_CPU_BIND;
    if (r->memory_by_rank && !o->force)
        return r->memory_by_outer ? NUIOA_REASON_MEM_BIND_OUTER : NUIOA_REASON_MEM_BIND;
    return r->sees_gpu && !o->force ? nuioa_gpus_forbid(r) : NUIOA_REASON_NONE;
}

/* Returns which fact is missing for a decision by distance, or NUIOA_REASON_NONE if none is. */
static enum nuioa_reason missing_basis(const struct planner *p)
{
    if (p->basis.request->pair_count && p->basis.request->hinted)
        return NUIOA_REASON_NONE;
    if (!p->basis.rails.count)
        return p->basis.rails.down ? NUIOA_REASON_NIC_DOWN : NUIOA_REASON_NO_NIC;
    return p->basis.rails.located ? NUIOA_REASON_NONE : NUIOA_REASON_NO_NUMA;
}

/* --- the ways to choose CPUs --- */

/* Decides on the slots in p->slot_of, which `mapper` has found. Returns as nuioa_plan_judge. */
static int judge(struct planner *p, const struct nuioa_slots *slots, const char *mapper)
{
    for (uint32_t i = 0; i < p->basis.request->task_count; i++)
        if (hwloc_bitmap_copy(p->plan->assignments[i].cpus, slots->cpus[p->slot_of[i]]) < 0)
            return -ENOMEM;
    return nuioa_plan_judge(p, mapper);
}

/* Maps the tasks to the slots by weights and pairs, from the slots that they have. */
static int map_weights(struct planner *p, const struct nuioa_slots *slots,
                       struct nuioa_mapping *mapping)
{
    const struct nuioa_request *r = p->basis.request;
    double *weight = nuioa_arena_take(&p->arena, r->task_count, sizeof(*weight));
    uint32_t *start = nuioa_arena_take(&p->arena, r->task_count, sizeof(*start));
    uint32_t *kind = nuioa_arena_take(&p->arena, r->task_count, sizeof(*kind));
    struct nuioa_load load;
    int rc = nuioa_rail_load_make(&load, &p->basis, slots);
    if (rc < 0 || p->arena.failed)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->task_count; i++) {
        weight[i] = r->tasks[i].weight;
        start[i] = p->slot_of[i];
        kind[i] = slots->kind[start[i]];
    }
    const struct nuioa_problem problem = {
        .task_count = r->task_count,
        .slot_count = slots->count,
        .weight = weight,
        .nic_cost = slots->nic_cost,
        .tie = slots->tie,
        .domain = slots->domain,
        .domain_count = slots->domain_count,
        .domain_cost = slots->domain_cost,
        .kind = slots->kind,
        .task_kind = kind,
        .start = start,
        .pair_count = r->pair_count,
        .pairs = r->pairs,
        .load = load.card_count && load.price > 0 ? &load : NULL,
        .cpu_until_us = r->cpu_until_us,
    };
    rc = nuioa_map(&problem, p->slot_of, mapping);
    p->plan->evaluations = mapping->evaluations;
    p->plan->bound = mapping->bound;
    return rc < 0 ? rc : nuioa_slots_keep_equal(slots, &p->basis, load.near, p->slot_of);
}

/* Returns true if every rank may have every mask. Only then the mappers' bound holds for all
 * exchanges of masks. */
static bool exchangeable(const struct nuioa_slots *slots)
{
    for (uint32_t i = 1; i < slots->count; i++)
        if (slots->kind[i] != slots->kind[0])
            return false;
    return true;
}

/* Returns the reason why hints move nobody. Advice on free cores is given where one would be
 * nearer the only NIC than a rank with weight. */
static enum nuioa_reason why_no_better(const struct planner *p, const struct nuioa_slots *own)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_slots all = { 0 };
    bool helps = false;
    if (p->basis.rails.count == 1 && !r->pair_count &&
        nuioa_free_slots_make(&all, &p->basis, own,
                              nuioa_free_cores_advised(&p->basis, p->refused)) == 0)
        for (uint32_t s = own->count; s < all.count; s++)
            for (uint32_t i = 0; i < r->task_count; i++)
                helps |= r->tasks[i].weight > 0 && all.nic_cost[s] < own->nic_cost[i];
    if (!helps)
        return !r->pair_count && nuioa_nothing_nearer(&p->basis) ? NUIOA_REASON_EVEN
                                                                 : NUIOA_REASON_NO_BETTER;
    return p->free_among ? NUIOA_REASON_NO_BETTER_NO_FREE : p->refused;
}

/* Returns the reason of ranks that hints have moved. */
static enum nuioa_reason why_by_weight(const struct nuioa_basis *basis,
                                       const struct nuioa_mapping *mapping)
{
    if (!basis->rails.located)
        return NUIOA_REASON_NEIGHBOURS;
    if (basis->request->pair_count)
        return mapping->balanced ? NUIOA_REASON_TRAFFIC_RAILS : NUIOA_REASON_TRAFFIC;
    if (mapping->by_load)
        return NUIOA_REASON_RAILS;
    return mapping->balanced ? NUIOA_REASON_HEAVIER_RAILS : NUIOA_REASON_HEAVIER;
}

/* Gives ranks without weight their own mask again if nobody has it: they gain nothing elsewhere. */
static int return_idle(struct planner *p, const struct nuioa_slots *slots)
{
    const struct nuioa_request *r = p->basis.request;
    bool *taken = nuioa_arena_take(&p->arena, slots->count, sizeof(*taken));
    if (!taken)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->task_count; i++)
        taken[p->slot_of[i]] = true;
    for (bool again = !r->pair_count; again;) {
        again = false;
        for (uint32_t i = 0; i < r->task_count; i++) {
            if (r->tasks[i].weight > 0 || taken[i])
                continue;
            taken[p->slot_of[i]] = false;
            p->slot_of[i] = i;
            taken[i] = again = true;
        }
    }
    return 0;
}

/* With hints: ranks exchange Slurm's masks, `own`, and may go to free cores. */
static int place_by_weight(struct planner *p, const struct nuioa_slots *own)
{
    struct nuioa_mapping mapping;
    struct nuioa_slots slots;
    int rc = nuioa_free_slots_make(&slots, &p->basis, own, p->free_among);
    if (rc < 0)
        return rc;
    bool some = slots.count > own->count;
    nuioa_slots_find_parts(&slots, own->count);
    rc = map_weights(p, &slots, &mapping);
    if (rc == 0 && some)
        rc = return_idle(p, &slots);
    /* Ranks with GPUs may leave each other their NICs, which the bound does not know. It is one of
     * Slurm's masks only. */
    bool gpus = p->basis.request->sees_gpu && p->basis.rails.count > 1;
    p->plan->bound_known = rc == 0 && exchangeable(&slots) && !gpus && !some;
    if (rc == 0)
        rc = judge(p, &slots, mapping.mapper);
    if (rc >= 0)
        nuioa_planner_say(p, rc == NUIOA_STANDS ? why_by_weight(&p->basis, &mapping)
                                                : why_no_better(p, own));
    return rc;
}

/* cores=pack: makes new slots on the cores nearest the NIC, and maps the ranks to them by weight,
 * or in their order without hints. -ENOSPC, and a warning, if the slots do not fit or if the cores
 * are not the step's alone. */
static int place_packed(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    if (nuioa_free_cores_shared(&p->basis) != NUIOA_REASON_NONE) {
        nuioa_warn(
            &p->plan->warnings,
            r->unconfined
                ? "cores=pack ignored: Slurm does not confine tasks to the step's cores"
                : "cores=pack ignored: other steps may use the step's cores. Omit --overlap");
        return -ENOSPC;
    }
    struct nuioa_mapping mapping;
    struct nuioa_slots slots;
    uint32_t cpus =
        r->cpus_per_task ? r->cpus_per_task : (uint32_t)hwloc_bitmap_weight(r->tasks[0].cpus);
    int rc = nuioa_slots_pack(&slots, &p->basis, p->basis.allowed_cpus, cpus);
    for (uint32_t i = 0; rc == 0 && i < slots.count; i++)
        slots.kind[i] = 0; /* each slot is large enough for every rank */
    if (rc == 0)
        rc = map_weights(p, &slots, &mapping);
    if (rc == 0)
        rc = judge(p, &slots, mapping.kept ? "hopsort" : mapping.mapper);
    if (rc >= 0)
        nuioa_planner_say(p, rc == NUIOA_STANDS         ? NUIOA_REASON_PACK
                             : rc == NUIOA_NOBODY_MOVES ? NUIOA_REASON_PACK_NEAREST
                                                        : NUIOA_REASON_PACK_COSTS);
    if (rc == -ENOSPC)
        nuioa_warn(&p->plan->warnings,
                   "cores=pack ignored: the ranks do not fit into the step's cores");
    return rc;
}

/* Returns the reason for what has become of ranks that follow their GPUs. `why` is that of ranks
 * that moved. */
static enum nuioa_reason why_by_gpu(const struct planner *p, int verdict, enum nuioa_reason why)
{
    const struct nuioa_request *r = p->basis.request;
    bool far = false;
    for (uint32_t i = 0; i < r->task_count; i++) {
        if (why == NUIOA_REASON_FOLLOW && p->slot_of[i] >= r->task_count)
            why = NUIOA_REASON_FOLLOW_FREE;
        far |= nuioa_gpu_level(r->node, &r->tasks[i], p->plan->assignments[i].cpus) >
               nuioa_gpu_nearest(r->node, &r->tasks[i], NULL);
    }
    if (verdict == NUIOA_COSTS_MORE)
        return NUIOA_REASON_FOLLOW_COSTS;
    if (verdict == NUIOA_STANDS)
        return far && why == NUIOA_REASON_FOLLOW_SHARE ? NUIOA_REASON_FOLLOW_SHARE_FAR : why;
    return far ? NUIOA_REASON_FOLLOW_FAR : NUIOA_REASON_FOLLOW_NEAREST;
}

/* CPUs follow GPUs. `slots` are Slurm's masks, to be exchanged (NUIOA_REASON_FOLLOW), or others;
 * `why` is the reason then. */
static int place_by_gpu(struct planner *p, struct nuioa_slots *slots, enum nuioa_reason why)
{
    struct nuioa_mapping mapping;
    int rc = nuioa_gpu_follow(&p->basis, slots, p->slot_of);
    if (rc == 0)
        rc = map_weights(p, slots, &mapping);
    if (rc == 0 && why == NUIOA_REASON_FOLLOW_SHARE &&
        nuioa_gpu_follow_takes(&p->basis, slots, p->slot_of)) {
        nuioa_planner_say(p, NUIOA_REASON_FOLLOW_SHARE_TAKES);
        return 0;
    }
    if (rc == 0)
        rc = judge(p, slots, mapping.kept ? "follow" : mapping.mapper);
    if (rc >= 0)
        nuioa_planner_say(p, why_by_gpu(p, rc, why));
    return rc;
}

/* Ranks exchange Slurm's masks, `own`, and may go to free cores beside their GPUs. */
static int place_bound_by_gpu(struct planner *p, struct nuioa_slots *own)
{
    struct nuioa_slots slots;
    int rc = nuioa_free_slots_make(&slots, &p->basis, own, p->basis.allowed_cpus);
    if (rc < 0)
        return rc;
    bool some = slots.count > own->count, may = some && p->free_among;
    rc = place_by_gpu(p, may ? &slots : own, NUIOA_REASON_FOLLOW);
    if (rc == NUIOA_COSTS_MORE && may &&
        (rc = place_by_gpu(p, own, NUIOA_REASON_FOLLOW)) == NUIOA_NOBODY_MOVES)
        nuioa_planner_say(p, NUIOA_REASON_FOLLOW_COSTS);
    if (rc >= 0 && some && !may && p->plan->why == NUIOA_REASON_FOLLOW_FAR &&
        p->refused != NUIOA_REASON_FREE_UNCONFINED)
        nuioa_planner_say(p, NUIOA_REASON_FOLLOW_NO_FREE);
    return rc;
}

/* The only rank of the node follows its GPUs into the CPUs of the step. */
static int place_alone_by_gpu(struct planner *p, struct nuioa_slots *own)
{
    struct nuioa_slots slots;
    int rc = nuioa_gpu_follow_alone(&p->basis, own, &slots);
    if (rc == 0)
        return place_by_gpu(p, &slots, NUIOA_REASON_FOLLOW_ALONE);
    return rc == -ENOSPC ? place_bound_by_gpu(p, own) : rc;
}

/* --- steps wider than their ranks ------------------------------------------------------------ */

/* Maps the ranks to slots that were made of shared masks, by weight and pairs. Without hints rank
 * after rank gets the nearest slot. */
static int map_shared(struct planner *p, const struct nuioa_slots *slots)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_mapping mapping = { .kept = true };
    int rc = r->hinted ? map_weights(p, slots, &mapping) : 0;
    if (rc == 0)
        rc = judge(p, slots, mapping.kept ? "hopsort" : mapping.mapper);
    if (rc >= 0)
        nuioa_planner_say(p, rc == NUIOA_COSTS_MORE    ? NUIOA_REASON_SHARE_COSTS
                             : !p->basis.rails.located ? NUIOA_REASON_NEIGHBOURS
                             : r->pair_count           ? NUIOA_REASON_SHARE_TRAFFIC
                             : r->hinted               ? NUIOA_REASON_SHARE_HEAVIER
                                                       : NUIOA_REASON_SHARE);
    return rc;
}

/* Returns true if every slot has as many CPUs as the user asked for each rank. */
static bool are_large_enough(const struct nuioa_request *r, const struct nuioa_slots *slots)
{
    for (uint32_t i = 0; i < slots->count; i++)
        if ((uint32_t)hwloc_bitmap_weight(slots->cpus[i]) < r->cpus_typed)
            return false;
    return true;
}

/* Returns why dividing gains nothing, or NUIOA_REASON_NONE if it may, or if the user typed it: all
 * CPUs of each mask are equally far from each NIC and GPU, and neither pairs of ranks nor threads
 * could be nearer each other. */
static enum nuioa_reason why_not_divide(const struct nuioa_basis *b,
                                        const struct nuioa_slots *slots)
{
    const struct nuioa_request *r = b->request;
    if (r->options->cores == NUIOA_CORES_SHARE || r->options->threads == NUIOA_SWITCH_ON ||
        r->pair_count)
        return NUIOA_REASON_NONE;
    for (uint32_t i = 0; i < r->task_count; i++) {
        bool new = !i || !hwloc_bitmap_isequal(r->tasks[i].cpus, r->tasks[i - 1].cpus);
        if (new && !nuioa_all_as_far(b, r->tasks[i].cpus))
            return NUIOA_REASON_NONE;
        uint32_t now = b->follows ? nuioa_gpu_level(r->node, &r->tasks[i], r->tasks[i].cpus) : 0;
        for (uint32_t s = 0; now && s < slots->count; s++)
            if (nuioa_gpu_level(r->node, &r->tasks[i], slots->cpus[s]) < now)
                return NUIOA_REASON_NONE;
    }
    return nuioa_nothing_nearer(b)                 ? NUIOA_REASON_EVEN
           : nuioa_is_nearest(b, r->tasks[0].cpus) ? NUIOA_REASON_SHARE_NEAREST
                                                   : NUIOA_REASON_SHARE_FAR;
}

/* Ranks that share a mask divide it. */
static int place_shared(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_slots slots;
    int rc = nuioa_slots_share(&slots, &p->basis);
    enum nuioa_reason stay = rc == 0 ? why_not_divide(&p->basis, &slots) : NUIOA_REASON_NONE;
    if (rc == -ENOSPC || rc == -EEXIST)
        nuioa_planner_say(p,
                          rc == -ENOSPC ? NUIOA_REASON_SHARE_CROWDED : NUIOA_REASON_SHARE_UNEQUAL);
    else if (rc == 0 && !are_large_enough(r, &slots))
        nuioa_planner_say(p, NUIOA_REASON_SHARE_TYPED);
    else if (stay != NUIOA_REASON_NONE)
        nuioa_planner_say(p, p->basis.follows ? why_by_gpu(p, NUIOA_NOBODY_MOVES, stay) : stay);
    else if (rc == 0)
        rc = p->basis.follows ? place_by_gpu(p, &slots, NUIOA_REASON_FOLLOW_SHARE)
                              : map_shared(p, &slots);
    return rc == -ENOSPC || rc == -EEXIST ? 0 : rc;
}

/* Places ranks that Slurm did not bind, if their CPUs are theirs alone. An srun in another step
 * starts nothing without --overlap: that step has the same CPUs, and waits. */
static int place_unbound(struct planner *p, struct nuioa_slots *own)
{
    const struct nuioa_request *r = p->basis.request;
    bool alone = r->task_count == 1;
    if (r->unconfined)
        nuioa_planner_say(p, NUIOA_REASON_SHARE_UNCONFINED);
    else if (r->overlaps && (alone || !r->nested))
        nuioa_planner_say(p, alone ? NUIOA_REASON_ALONE_OVERLAP : NUIOA_REASON_SHARE_OVERLAP);
    else if (alone && p->basis.follows && r->cpus_typed)
        return place_alone_by_gpu(p, own);
    else
        return alone ? nuioa_alone_unbound(p) : place_shared(p);
    return 0;
}

static int place_in_own_slots(struct planner *p, struct nuioa_slots *own)
{
    const struct nuioa_request *r = p->basis.request;
    bool packs = r->options->cores == NUIOA_CORES_PACK;
    if (nuioa_shares(&p->basis) || (packs && nuioa_unbound(&p->basis) &&
                                    nuioa_free_cores_shared(&p->basis) != NUIOA_REASON_NONE))
        return place_unbound(p, own);
    if (nuioa_unbound(&p->basis)) {
        nuioa_planner_say(p, r->task_count > 1 ? NUIOA_REASON_SHARE_NOT_ASKED
                             : nuioa_alone_is_wide(p) && !r->cpus_typed
                                 ? NUIOA_REASON_ALONE_NOT_ASKED
                                 : NUIOA_REASON_ALONE_ALL);
        return 0;
    }
    bool alone = r->task_count == 1;
    if (p->basis.follows)
        return alone && r->options->cores != NUIOA_CORES_KEEP ? place_alone_by_gpu(p, own)
                                                              : place_bound_by_gpu(p, own);
    if (alone)
        return nuioa_alone_place(p);
    return r->hinted ? place_by_weight(p, own) : nuioa_rank_block_place(p, own);
}

int nuioa_plan_choose(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    enum nuioa_reason stay = must_stay(r);
    struct nuioa_slots own = { 0 };
    int rc = nuioa_plan_cost(p, true);
    if (rc == 0)
        rc = nuioa_plan_keep(p);
    if (stay == NUIOA_REASON_NONE && !p->basis.follows)
        stay = missing_basis(p);
    if (rc == 0 && stay != NUIOA_REASON_NONE)
        nuioa_planner_say(p, stay);
    if (rc < 0 || stay != NUIOA_REASON_NONE)
        return rc;
    rc = nuioa_slots_keep(&own, &p->basis, 0);
    if (rc == 0)
        rc = nuioa_slots_price(&own, &p->basis);
    for (uint32_t i = 0; rc == 0 && p->basis.follows && i < r->task_count; i++)
        own.nic_cost[i] = nuioa_nic_price(&p->basis, i, own.cpus[i]);
    bool packs = r->options->cores == NUIOA_CORES_PACK;
    if (rc == 0 && packs)
        rc = place_packed(p);
    if (packs ? rc == -ENOSPC : rc == 0)
        rc = place_in_own_slots(p, &own);
    return rc < 0 ? rc : 0;
}
