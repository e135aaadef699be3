/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_decide.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/block.h"
#include "plan/interrupt_avoid.h"
#include "plan/rail_balance.h"
#include "plan/slot.h"
#include "plan/slot_pack.h"

static void set_reason(struct nuioa_plan *plan, const char *reason)
{
    nuioa_copy(plan->reason, sizeof(plan->reason), reason);
}

/* Returns the reason why no rank may move, or NULL if ranks may move. */
static const char *must_stay(const struct nuioa_request *r)
{
    const struct nuioa_options *o = r->options;
    if (o->mode == NUIOA_EXPORT)
        return "export only: nothing is moved";
    if (o->mode != NUIOA_ON)
        return "off";
    if (r->stay)
        return r->stay;
    if (r->bound_by_user && !o->force)
        return "an explicit --cpu-bind is left alone (nuioa=force overrides it)";
    if (r->sees_gpu && !o->force)
        return "the step has GPUs: ranks stay, NICs follow (nuioa=force overrides it)";
    return NULL;
}

/* Returns which fact is missing for a decision by distance, or NULL if none is. */
static const char *missing_basis(const struct planner *p)
{
    if (p->request->pair_count && p->request->hinted)
        return NULL;
    if (!p->rails.count)
        return "no usable NIC on this node";
    if (!p->rails.located)
        return "the NUMA node of the NIC is unknown";
    return NULL;
}

/* --- the ways to choose CPUs --- */

static struct nuioa_problem problem_of(const struct nuioa_request *r, const struct nuioa_slots *s,
                                       const double *weight, const uint32_t *task_kind,
                                       const uint32_t *start)
{
    return (struct nuioa_problem){
        .task_count = r->task_count,
        .slot_count = s->count,
        .weight = weight,
        .nic_cost = s->nic_cost,
        .tie = s->tie,
        .domain = s->domain,
        .domain_count = s->domain_count,
        .domain_cost = s->domain_cost,
        .kind = s->kind,
        .task_kind = task_kind,
        .start = start,
        .pair_count = r->pair_count,
        .pairs = r->pairs,
        .cpu_until_us = r->cpu_until_us,
    };
}

static int set_cpus(struct planner *p, const struct nuioa_slots *slots)
{
    for (uint32_t i = 0; i < p->request->task_count; i++)
        if (hwloc_bitmap_copy(p->plan->assignments[i].cpus, slots->cpus[p->slot_of[i]]) < 0)
            return -ENOMEM;
    return 0;
}

static bool interchangeable(const struct nuioa_slots *s, uint32_t a, uint32_t b)
{
    return s->nic_cost[a] == s->nic_cost[b] && s->tie[a] == s->tie[b] &&
           s->domain[a] == s->domain[b] && s->kind[a] == s->kind[b];
}

/* Where a task got a slot that is interchangeable with its own, it gets its own slot back, so that
 * no rank moves without a gain. Slot i is the own slot of task i. */
static int keep_equal_slots(const struct nuioa_slots *slots, uint32_t *slot_of, uint32_t task_count)
{
    uint32_t *task_in = malloc(slots->count * sizeof(*task_in));
    if (!task_in)
        return -ENOMEM;
    for (uint32_t s = 0; s < slots->count; s++)
        task_in[s] = UINT32_MAX;
    for (uint32_t i = 0; i < task_count; i++)
        task_in[slot_of[i]] = i;
    for (uint32_t i = 0; i < task_count; i++) {
        uint32_t got = slot_of[i], other = task_in[i];
        if (got == i || !interchangeable(slots, got, i))
            continue;
        slot_of[i] = i;
        task_in[i] = i;
        task_in[got] = other;
        if (other != UINT32_MAX)
            slot_of[other] = got;
    }
    free(task_in);
    return 0;
}

/* Moves heavy ranks near different NICs as far as J does not rise. Returns 0 or -ENOMEM. */
static int balance_rails(struct planner *p, const struct nuioa_slots *slots,
                         const struct nuioa_problem *problem)
{
    struct nuioa_mapping *mapping = &p->plan->mapping;
    int rc = nuioa_rail_balance(p->request, slots, &p->rails, p->slot_of);
    if (rc <= 0)
        return rc;
    p->balanced = true;
    mapping->cost = fmin(mapping->cost, nuioa_cost(problem, p->slot_of));
    if (!strcmp(mapping->mapper, "keep"))
        mapping->mapper = "rails";
    return 0;
}

/* Maps the tasks to the slots by weights and pairs. Slot i is where task i starts. */
static int map_weights(struct planner *p, const struct nuioa_slots *slots)
{
    const struct nuioa_request *r = p->request;
    double *weight = malloc(r->task_count * sizeof(*weight));
    uint32_t *start = malloc(r->task_count * sizeof(*start));
    int rc = -ENOMEM;
    if (weight && start) {
        for (uint32_t i = 0; i < r->task_count; i++) {
            weight[i] = r->tasks[i].weight;
            start[i] = i;
        }
        struct nuioa_problem problem = problem_of(r, slots, weight, slots->kind, start);
        rc = nuioa_map(&problem, p->slot_of, &p->plan->mapping);
        if (rc == 0)
            rc = keep_equal_slots(slots, p->slot_of, r->task_count);
        if (rc == 0)
            rc = balance_rails(p, slots, &problem);
    }
    free(weight);
    free(start);
    return rc;
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

static int place_by_weight(struct planner *p, const struct nuioa_slots *slots)
{
    int rc = map_weights(p, slots);
    if (rc == 0)
        rc = set_cpus(p, slots);
    p->plan->bound_known = rc == 0 && exchangeable(slots);
    const char *mapper = p->plan->mapping.mapper;
    if (!strcmp(mapper, "keep"))
        set_reason(p->plan, "no better exchange of Slurm's masks was found");
    else if (!strcmp(mapper, "rails"))
        set_reason(p->plan,
                   "no better exchange of Slurm's masks was found; heavy ranks share the NICs");
    else if (p->request->pair_count)
        set_reason(p->plan, p->balanced ? "placed by traffic to the NICs, shared, and to neighbours"
                                        : "placed by traffic to the NIC and neighbours");
    else
        set_reason(p->plan, p->balanced ? "heavier ranks are nearer the NICs, and share them"
                                        : "heavier ranks are nearer the NIC");
    return rc;
}

/* Without hints: moves the block of the lowest rank near the NIC. */
static int place_by_block(struct planner *p, const struct nuioa_slots *slots)
{
    int result = nuioa_block_move(p->request, slots, &p->rails, p->slot_of);
    if (result < 0)
        return result;
    static const char *const reasons[] = {
        [NUIOA_BLOCK_MOVED] =
            "no hints: the ranks of the lowest rank's NUMA node are beside the NIC",
        [NUIOA_BLOCK_NEAREST] = "no hints, and no equal block of Slurm's masks is nearer the NIC "
                                "than the lowest rank's",
        [NUIOA_BLOCK_SPREAD] = "no hints, and ranks span NUMA nodes",
        [NUIOA_BLOCK_SEPARATES] = "no hints, and moving a block would take neighbours apart",
    };
    set_reason(p->plan, reasons[result]);
    return result == NUIOA_BLOCK_MOVED ? set_cpus(p, slots) : 0;
}

/* Moves the only rank of the node nearer the NIC if the step has spare CPUs there. */
static int place_single_rank(struct planner *p)
{
    struct nuioa_assignment *assignment = &p->plan->assignments[0];
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    int rc = cpus ? 0 : -ENOMEM;
    if (cpus && nuioa_slot_nearer(p->request, &p->rails, p->allowed_cpus, assignment->cpus, cpus)) {
        rc = hwloc_bitmap_copy(assignment->cpus, cpus) < 0 ? -ENOMEM : 0;
        p->plan->mapping.cost =
            p->request->tasks[0].weight *
            nuioa_nic_cost(p->request->options, nuioa_rails_nearest(&p->rails, cpus));
        set_reason(p->plan, "the only rank on the node moved nearer the NIC");
    } else {
        set_reason(p->plan, "the only rank is as near the NIC as the step's CPUs allow");
    }
    hwloc_bitmap_free(cpus);
    return rc;
}

/* Returns J with task i in slot i, computed by domains as the mappers do. */
static double identity_cost(const struct planner *p, const struct nuioa_slots *slots)
{
    const struct nuioa_request *r = p->request;
    double cost = 0;
    for (uint32_t i = 0; i < r->task_count; i++)
        cost += r->tasks[i].weight * slots->nic_cost[i];
    for (uint32_t k = 0; k < r->pair_count; k++) {
        uint32_t a = slots->domain[r->pairs[k].first], b = slots->domain[r->pairs[k].second];
        cost += r->pairs[k].bytes * slots->domain_cost[(size_t)a * slots->domain_count + b];
    }
    return cost;
}

/* cores=pack: makes new slots on the cores nearest the NIC, and maps the ranks to them by weight,
 * or in their order without hints. -ENOSPC if the slots do not fit. */
static int place_packed(struct planner *p, const struct nuioa_slots *own)
{
    const struct nuioa_request *r = p->request;
    struct nuioa_slots slots;
    uint32_t cpus =
        r->cpus_per_task ? r->cpus_per_task : (uint32_t)hwloc_bitmap_weight(r->tasks[0].cpus);
    int rc = nuioa_slots_pack(&slots, r, &p->rails, p->allowed_cpus, cpus);
    if (rc == 0)
        rc = nuioa_slots_price(&slots, r, &p->rails, r->pair_count);
    for (uint32_t i = 0; rc == 0 && i < slots.count; i++)
        slots.kind[i] = 0; /* each slot is large enough for every rank */
    if (rc == 0)
        rc = map_weights(p, &slots);
    if (rc == 0) {
        p->plan->mapping.cost_start = identity_cost(p, own);
        p->plan->bound_known = false; /* the bound would hold for these slots only */
        if (p->plan->mapping.cost <= p->plan->mapping.cost_start) {
            rc = set_cpus(p, &slots);
            set_reason(p->plan, "cores=pack: cores filled from the NIC outwards");
            p->plan->mapping.mapper = "hopsort";
        } else {
            p->plan->mapping.cost = p->plan->mapping.cost_start;
            p->plan->mapping.mapper = "keep";
            set_reason(p->plan, "cores=pack would cost more than Slurm's placement");
        }
    }
    nuioa_slots_free(&slots);
    return rc;
}

/* Moves ranks from cores that serve interrupts to spare ones, if J does not rise. `own` has Slurm's
 * slots; this function changes their CPUs. */
static int leave_interrupt_cores(struct planner *p, struct nuioa_slots *own)
{
    const struct nuioa_request *r = p->request;
    struct nuioa_plan *plan = p->plan;
    struct nuioa_avoided avoided;
    int rc = nuioa_interrupt_avoid(r, p->allowed_cpus, own, &avoided);
    if (rc == 0)
        rc = nuioa_slots_price(own, r, &p->rails, r->pair_count);
    double cost = rc == 0 ? identity_cost(p, own) : 0;
    if (rc < 0)
        return rc;
    if (!avoided.disturbed) {
        set_reason(plan,
                   "policy=cpu: nothing is moved; no rank is where NIC interrupts are served");
    } else if (!avoided.moved) {
        set_reason(plan,
                   "policy=cpu: NIC interrupts are served where ranks run, and the step has no "
                   "spare core there");
    } else if (cost > plan->mapping.cost_start * (1 + 1e-12)) {
        set_reason(plan,
                   "policy=cpu: leaving the cores that serve interrupts would tear neighbours "
                   "apart");
    } else {
        for (uint32_t i = 0; i < r->task_count; i++)
            p->slot_of[i] = i;
        plan->mapping.cost = cost;
        plan->mapping.mapper = "spare";
        snprintf(plan->reason, sizeof(plan->reason),
                 "policy=cpu: %u of %u ranks left cores that serve NIC interrupts for spare ones",
                 avoided.moved, avoided.disturbed);
        return set_cpus(p, own);
    }
    return 0;
}

/* Sets the reason why ranks that Slurm did not bind (nuioa_unbound) keep all their CPUs. `policy`
 * is the beginning of the text. */
static void set_reason_unbound(struct planner *p, const char *policy)
{
    const char *why = p->request->task_count > 1
                          ? "all ranks share the same CPUs: none is moved, or given fewer"
                          : "the only rank has all CPUs of the step: there are no others";
    snprintf(p->plan->reason, sizeof(p->plan->reason), "%s%s", policy, why);
}

/* policy=cpu: ranks move to avoid interrupts, but not to be nearer the NIC. */
static int place_for_cpu_policy(struct planner *p, struct nuioa_slots *own)
{
    const struct nuioa_request *r = p->request;
    if (!r->interrupt_cpus || hwloc_bitmap_iszero(r->interrupt_cpus))
        set_reason(p->plan,
                   "policy=cpu: nothing is moved; no interrupts of an Ethernet NIC are known");
    else if (nuioa_unbound(p))
        set_reason_unbound(p, "policy=cpu: ");
    else if (r->options->cores == NUIOA_CORES_KEEP)
        set_reason(p->plan, "policy=cpu: nothing is moved, and cores=keep allows no spare cores");
    else
        return leave_interrupt_cores(p, own);
    return 0;
}

static int place_in_own_slots(struct planner *p, const struct nuioa_slots *own)
{
    const struct nuioa_request *r = p->request;
    if (nuioa_unbound(p)) {
        set_reason_unbound(p, "");
        return 0;
    }
    if (r->task_count == 1 && r->options->cores == NUIOA_CORES_AUTO)
        return place_single_rank(p);
    return r->hinted ? place_by_weight(p, own) : place_by_block(p, own);
}

int nuioa_plan_decide(struct planner *p)
{
    const struct nuioa_request *r = p->request;
    const char *stay = must_stay(r);
    struct nuioa_slots own = { 0 };
    int rc = nuioa_slots_keep(&own, r);
    if (rc == 0)
        rc = nuioa_slots_price(&own, r, &p->rails, r->pair_count);
    if (rc < 0)
        goto out;
    p->plan->mapping = (struct nuioa_mapping){ .mapper = "keep" };
    p->plan->mapping.cost_start = p->plan->mapping.cost = identity_cost(p, &own);
    bool computing = r->options->policy == NUIOA_POLICY_CPU;
    if (!stay && !computing)
        stay = missing_basis(p);
    if (stay) {
        set_reason(p->plan, stay);
        goto out;
    }
    if (computing) {
        rc = place_for_cpu_policy(p, &own);
        goto out;
    }
    if (r->options->cores == NUIOA_CORES_PACK) {
        rc = place_packed(p, &own);
        if (rc != -ENOSPC)
            goto out;
        nuioa_warn(&p->plan->warnings,
                   "cores=pack: the ranks do not fit into the step's cores: keep");
    }
    rc = place_in_own_slots(p, &own);
out:
    nuioa_slots_free(&own);
    return rc;
}
