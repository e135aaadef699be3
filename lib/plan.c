#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "block.h"
#include "leader.h"
#include "rail.h"
#include "slot.h"

/* What a decision needs besides the request. */
struct planner {
    const struct nuioa_request *request;
    struct nuioa_plan *plan;
    struct nuioa_rails rails;
    hwloc_bitmap_t allowed_cpus;
    hwloc_bitmap_t allowed_numas;
    uint32_t *slot_of; /* [task_count] */
};

static uint32_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)(t.tv_sec * 1000000 + t.tv_nsec / 1000);
}

static void because(struct nuioa_plan *plan, const char *reason)
{
    nuioa_copy(plan->reason, sizeof(plan->reason), reason);
}

/* ---- what may be done --------------------------------------------------------------------------- */

/* Why no rank may move at all, or NULL. */
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
    if (o->policy == NUIOA_POLICY_CPU)
        return "policy=cpu: bound by computation, nothing is moved";
    return NULL;
}

/* All ranks may use the same CPUs, which is as good as not bound. A single rank is not bound if it may use
 * all that the step has, and that is more than one core. */
static bool unbound(const struct planner *p)
{
    const struct nuioa_request *r = p->request;
    for (uint32_t i = 1; i < r->task_count; i++)
        if (!hwloc_bitmap_isequal(r->tasks[i].cpus, r->tasks[0].cpus))
            return false;
    return r->task_count > 1 || hwloc_bitmap_isequal(r->tasks[0].cpus, p->allowed_cpus);
}

static const char *no_basis(const struct planner *p)
{
    if (p->request->pair_count && p->request->hinted)
        return NULL;
    if (!p->rails.count)
        return "no usable NIC on this node";
    if (!p->rails.located)
        return "the NUMA node of the NIC is unknown";
    return NULL;
}

/* ---- the ways to place -------------------------------------------------------------------------- */

static struct nuioa_problem problem_of(const struct nuioa_request *r, const struct nuioa_slots *s,
                                       const double *weight, const uint32_t *task_kind,
                                       const uint32_t *start)
{
    return (struct nuioa_problem){
        .task_count = r->task_count, .slot_count = s->count, .weight = weight,
        .nic_cost = s->nic_cost, .tie = s->tie, .domain = s->domain,
        .domain_count = s->domain_count, .domain_cost = s->domain_cost, .kind = s->kind,
        .task_kind = task_kind, .start = start, .pair_count = r->pair_count, .pairs = r->pairs};
}

static int set_cpus(struct planner *p, const struct nuioa_slots *slots)
{
    for (uint32_t i = 0; i < p->request->task_count; i++)
        if (hwloc_bitmap_copy(p->plan->places[i].cpus, slots->cpus[p->slot_of[i]]) < 0)
            return -ENOMEM;
    return 0;
}

/* Maps the tasks to the slots by weight; slot i is where task i starts. */
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
        rc = nuioa_place(&problem, p->slot_of, &p->plan->mapping);
    }
    free(weight);
    free(start);
    return rc;
}

static int by_weight(struct planner *p, const struct nuioa_slots *slots)
{
    int rc = map_weights(p, slots);
    if (rc == 0)
        rc = set_cpus(p, slots);
    p->plan->bound_known = rc == 0;
    because(p->plan, strcmp(p->plan->mapping.mapper, "keep")
                         ? (p->request->pair_count ? "placed by traffic to the NIC and neighbours"
                                                   : "heavier ranks are nearer the NIC")
                         : "no placement is better than Slurm's");
    return rc;
}

static int by_block(struct planner *p, const struct nuioa_slots *slots)
{
    int result = nuioa_block_move(p->request, slots, &p->rails, p->slot_of);
    if (result < 0)
        return result;
    static const char *const reasons[] = {
        [NUIOA_BLOCK_MOVED] = "no hints: the ranks of the lowest rank's NUMA node are beside the NIC",
        [NUIOA_BLOCK_NEAREST] = "no hints, and the lowest rank is as near the NIC as can be",
        [NUIOA_BLOCK_SPREAD] = "no hints, and ranks span NUMA nodes",
        [NUIOA_BLOCK_TEARS] = "no hints, and moving a block would take neighbours apart",
    };
    because(p->plan, reasons[result]);
    return result == NUIOA_BLOCK_MOVED ? set_cpus(p, slots) : 0;
}

static int alone(struct planner *p)
{
    struct nuioa_place *place = &p->plan->places[0];
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    int rc = cpus ? 0 : -ENOMEM;
    if (cpus && nuioa_slot_nearer(p->request, &p->rails, p->allowed_cpus, place->cpus, cpus)) {
        rc = hwloc_bitmap_copy(place->cpus, cpus) < 0 ? -ENOMEM : 0;
        because(p->plan, "the only rank on the node moved nearer the NIC");
    } else {
        because(p->plan, "the only rank is as near the NIC as the step's CPUs allow");
    }
    hwloc_bitmap_free(cpus);
    return rc;
}

static double cost_of(const struct planner *p, const struct nuioa_slots *slots)
{
    double cost = 0;
    for (uint32_t i = 0; i < p->request->task_count; i++)
        cost += p->request->tasks[i].weight * slots->nic_cost[i];
    for (uint32_t k = 0; k < p->request->pair_count; k++) {
        const struct nuioa_pair *pair = &p->request->pairs[k];
        cost += pair->bytes * nuioa_neighbour_cost(p->request->node, slots->cpus[pair->first],
                                                   slots->cpus[pair->second]);
    }
    return cost;
}

/* cores=pack: new slots from the NIC outwards, in which the ranks are placed by weight, or in their order
 * without hints. -ENOSPC: no room. */
static int packed(struct planner *p, const struct nuioa_slots *own)
{
    const struct nuioa_request *r = p->request;
    struct nuioa_slots slots;
    uint32_t cpus = r->cpus_per_task ? r->cpus_per_task
                                     : (uint32_t)hwloc_bitmap_weight(r->tasks[0].cpus);
    int rc = nuioa_slots_pack(&slots, r, &p->rails, p->allowed_cpus, cpus);
    if (rc == 0)
        rc = nuioa_slots_price(&slots, r, &p->rails, r->pair_count);
    for (uint32_t i = 0; rc == 0 && i < slots.count; i++)
        slots.kind[i] = 0; /* all as large as was asked for, or larger */
    if (rc == 0)
        rc = map_weights(p, &slots);
    if (rc == 0) {
        p->plan->mapping.cost_start = cost_of(p, own);
        p->plan->bound_known = false; /* the bound would be one of these slots, not of all */
        if (p->plan->mapping.cost <= p->plan->mapping.cost_start) {
            rc = set_cpus(p, &slots);
            because(p->plan, "cores=pack: cores filled from the NIC outwards");
            p->plan->mapping.mapper = "hopsort";
        } else {
            p->plan->mapping.cost = p->plan->mapping.cost_start;
            p->plan->mapping.mapper = "keep";
            because(p->plan, "cores=pack would cost more than Slurm's placement");
        }
    }
    nuioa_slots_free(&slots);
    return rc;
}

static int place_in_own_slots(struct planner *p, const struct nuioa_slots *own)
{
    const struct nuioa_request *r = p->request;
    if (unbound(p)) {
        because(p->plan, "ranks are not bound to CPUs of their own: nothing is squeezed");
        return 0;
    }
    if (r->task_count == 1 && r->options->cores == NUIOA_CORES_AUTO)
        return alone(p);
    return r->hinted ? by_weight(p, own) : by_block(p, own);
}

/* Sets the CPUs of every place, and the reason. */
static int decide(struct planner *p)
{
    const struct nuioa_request *r = p->request;
    const char *stay = must_stay(r);
    struct nuioa_slots own = {0};
    int rc = nuioa_slots_keep(&own, r);
    if (rc == 0)
        rc = nuioa_slots_price(&own, r, &p->rails, r->pair_count);
    if (rc < 0)
        goto out;
    p->plan->mapping = (struct nuioa_mapping){.mapper = "keep"};
    p->plan->mapping.cost_start = p->plan->mapping.cost = cost_of(p, &own);
    if (!stay)
        stay = no_basis(p);
    if (stay) {
        because(p->plan, stay);
        goto out;
    }
    if (r->options->cores == NUIOA_CORES_PACK) {
        rc = packed(p, &own);
        if (rc != -ENOSPC)
            goto out;
        nuioa_warn(&p->plan->warnings, "cores=pack: the ranks do not fit into the step's cores: keep");
    }
    rc = place_in_own_slots(p, &own);
out:
    nuioa_slots_free(&own);
    return rc;
}

/* ---- what follows from the CPUs ----------------------------------------------------------------- */

/* The allowed NUMA nodes with memory among `numas`; if there is none, the nearest such one to any. */
static void usable_memory(const struct planner *p, hwloc_const_bitmap_t numas, hwloc_bitmap_t out)
{
    const struct nuioa_node *node = p->request->node;
    unsigned best_distance = UINT32_MAX, best = UINT32_MAX;
    hwloc_bitmap_zero(out);
    for (unsigned j = 0; j < node->numa_count; j++) {
        const struct nuioa_numa *numa = &node->numas[j];
        if (!numa->memory_bytes || !hwloc_bitmap_isset(p->allowed_numas, numa->os_index))
            continue;
        if (hwloc_bitmap_isset(numas, numa->os_index))
            hwloc_bitmap_set(out, numa->os_index);
        for (unsigned i = 0; i < node->numa_count; i++)
            if (hwloc_bitmap_isset(numas, node->numas[i].os_index) &&
                nuioa_distance_at(&node->distance, i, j) < best_distance) {
                best_distance = nuioa_distance_at(&node->distance, i, j);
                best = numa->os_index;
            }
    }
    if (hwloc_bitmap_iszero(out) && best != UINT32_MAX)
        hwloc_bitmap_set(out, best);
}

/* Which memory a rank prefers: `local`, that of its CPUs; `nic`, that of its NIC; `interleave`, those of
 * all rails, which spreads the load over their banks (Moreaud & Goglin, PDCS 2007, 5.3). */
static void choose_memory(const struct planner *p, struct nuioa_place *place)
{
    const struct nuioa_request *r = p->request;
    hwloc_bitmap_t wanted = hwloc_bitmap_dup(place->numas);
    enum nuioa_mem mem = r->options->mem;
    place->memory = NUIOA_MEMORY_DEFAULT;
    hwloc_bitmap_zero(place->memory_numas);
    if (!wanted || r->options->mode != NUIOA_ON || r->memory_by_user || mem == NUIOA_MEM_OFF)
        goto out;
    if (mem == NUIOA_MEM_NIC && place->nic >= 0 && r->node->nics[place->nic].level)
        hwloc_bitmap_copy(wanted, r->node->nics[place->nic].numas);
    if (mem == NUIOA_MEM_INTERLEAVE && p->rails.located)
        hwloc_bitmap_zero(wanted);
    for (unsigned i = 0; mem == NUIOA_MEM_INTERLEAVE && i < p->rails.count; i++)
        hwloc_bitmap_or(wanted, wanted, r->node->nics[p->rails.nic[i]].numas);

    usable_memory(p, wanted, place->memory_numas);
    int count = hwloc_bitmap_weight(place->memory_numas);
    if (mem == NUIOA_MEM_INTERLEAVE && count > 0)
        place->memory = NUIOA_MEMORY_INTERLEAVE;
    else if (mem == NUIOA_MEM_NIC && count > 0)
        place->memory = NUIOA_MEMORY_PREFERRED;
    /* Several NUMA nodes: first touch is what keeps memory local. */
    else if (mem == NUIOA_MEM_LOCAL && count == 1 && !r->bound_by_user)
        place->memory = NUIOA_MEMORY_PREFERRED;
    if (place->memory == NUIOA_MEMORY_PREFERRED)
        hwloc_bitmap_singlify(place->memory_numas);
    if (place->memory == NUIOA_MEMORY_DEFAULT)
        hwloc_bitmap_zero(place->memory_numas);
out:
    hwloc_bitmap_free(wanted);
}

static void drop_places(struct nuioa_place *place)
{
    for (uint32_t i = 0; i < place->place_count; i++)
        hwloc_bitmap_free(place->places[i]);
    free(place->places);
    place->places = NULL;
    place->place_count = 0;
}

struct omp_place {
    hwloc_bitmap_t cpus;
    uint32_t level, tie, order;
};

static int nearer_place(const void *a, const void *b)
{
    const struct omp_place *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* One OMP place for each core, nearest the NIC first: thread 0, which communicates, gets it. None for a
 * rank with one core, and none for ranks that share their CPUs. */
static int list_places(const struct planner *p, struct nuioa_place *place)
{
    const struct nuioa_node *node = p->request->node;
    uint32_t count = 0, last = UINT32_MAX;
    drop_places(place);
    if (!p->request->options->threads || p->request->options->mode == NUIOA_OFF || unbound(p))
        return 0;
    struct omp_place *cores = calloc(node->pu_count + 1, sizeof(*cores));
    if (!cores)
        return -ENOMEM;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < node->pu_count; i++) {
        const struct nuioa_pu *pu = &node->pus[i];
        if (!hwloc_bitmap_isset(place->cpus, pu->os_index))
            continue;
        if (pu->core != last) {
            cores[count] = (struct omp_place){hwloc_bitmap_alloc(), 0, 0, count};
            rc = cores[count++].cpus ? 0 : -ENOMEM;
        }
        last = pu->core;
        if (rc == 0)
            hwloc_bitmap_set(cores[count - 1].cpus, pu->os_index);
    }
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        cores[i].level = nuioa_rails_nearest(&p->rails, cores[i].cpus);
        cores[i].tie = nuioa_rails_tie(&p->rails, node, cores[i].cpus);
    }
    if (rc == 0)
        qsort(cores, count, sizeof(*cores), nearer_place);
    place->places = rc == 0 && count > 1 ? malloc(count * sizeof(*place->places)) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (place->places)
            place->places[place->place_count++] = cores[i].cpus;
        else
            hwloc_bitmap_free(cores[i].cpus);
    }
    free(cores);
    return rc;
}

static int choose_leaders(struct planner *p)
{
    struct nuioa_plan *plan = p->plan;
    uint32_t n = plan->task_count;
    plan->order_count = plan->near = plan->rail_count = 0;
    if (p->request->options->leader == NUIOA_LEADER_OFF)
        return 0;
    struct nuioa_candidate *candidates = malloc(n * sizeof(*candidates));
    if (!candidates)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct nuioa_place *place = &plan->places[i];
        candidates[i] = (struct nuioa_candidate){i, place->level, (uint32_t)place->nic,
                                                 place->weight};
    }
    if (p->request->options->leader == NUIOA_LEADER_NEAR)
        plan->near = nuioa_leader_order(candidates, n);
    else
        plan->near = 1; /* rank 0 was asked for: nobody to rotate with */
    plan->rail_count = nuioa_leader_rails(candidates, n, plan->rails);
    for (uint32_t i = 0; i < n; i++)
        plan->order[i] = candidates[i].local;
    plan->order_count = n;
    free(candidates);
    return 0;
}

/* Everything that follows from where the ranks run. */
static int describe(struct planner *p)
{
    const struct nuioa_request *r = p->request;
    struct nuioa_plan *plan = p->plan;
    plan->moved = false;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        struct nuioa_place *place = &plan->places[i];
        place->rank = r->tasks[i].rank;
        place->weight = r->tasks[i].weight;
        place->moved = !hwloc_bitmap_isequal(place->cpus, r->tasks[i].cpus);
        plan->moved |= place->moved;
        nuioa_node_numas_of(r->node, place->cpus, place->numas);
    }
    int rc = nuioa_rails_assign(&p->rails, r, plan->places);
    for (uint32_t i = 0; rc == 0 && i < plan->task_count; i++) {
        choose_memory(p, &plan->places[i]);
        rc = list_places(p, &plan->places[i]);
    }
    return rc == 0 ? choose_leaders(p) : rc;
}

/* ---- entry points ------------------------------------------------------------------------------- */

static int plan_alloc(struct nuioa_plan *plan, const struct nuioa_request *r)
{
    *plan = (struct nuioa_plan){.planned = r->planned, .policy = r->options->policy, .hinted = r->hinted,
                                .task_count = r->task_count};
    plan->places = calloc(r->task_count, sizeof(*plan->places));
    plan->order = calloc(r->task_count, sizeof(*plan->order));
    plan->rails = calloc(r->task_count, sizeof(*plan->rails));
    if (!plan->places || !plan->order || !plan->rails)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->task_count; i++) {
        struct nuioa_place *place = &plan->places[i];
        place->cpus = hwloc_bitmap_dup(r->tasks[i].cpus);
        place->numas = hwloc_bitmap_alloc();
        place->memory_numas = hwloc_bitmap_alloc();
        if (!place->cpus || !place->numas || !place->memory_numas)
            return -ENOMEM;
    }
    return 0;
}

static int planner_init(struct planner *p, const struct nuioa_request *r, struct nuioa_plan *plan,
                        struct nuioa_error *err)
{
    *p = (struct planner){.request = r, .plan = plan};
    p->allowed_cpus = hwloc_bitmap_dup(r->node->allowed_cpus);
    p->allowed_numas = hwloc_bitmap_dup(r->node->allowed_numas);
    p->slot_of = calloc(r->task_count, sizeof(*p->slot_of));
    if (!p->allowed_cpus || !p->allowed_numas || !p->slot_of)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    if (r->allowed_cpus)
        hwloc_bitmap_copy(p->allowed_cpus, r->allowed_cpus);
    if (r->allowed_numas)
        hwloc_bitmap_copy(p->allowed_numas, r->allowed_numas);
    return nuioa_rails_init(&p->rails, r->node, r->options, &plan->warnings, err);
}

static void planner_free(struct planner *p)
{
    hwloc_bitmap_free(p->allowed_cpus);
    hwloc_bitmap_free(p->allowed_numas);
    free(p->slot_of);
    nuioa_rails_free(&p->rails);
}

static int check(const struct nuioa_request *r, struct nuioa_error *err)
{
    if (!r->task_count)
        return nuioa_fail(err, -EINVAL, "no tasks to place");
    for (uint32_t i = 0; i < r->task_count; i++)
        if (hwloc_bitmap_iszero(r->tasks[i].cpus) || hwloc_bitmap_last(r->tasks[i].cpus) < 0)
            return nuioa_fail(err, -EINVAL, "rank %u has no CPUs", r->tasks[i].rank);
    for (uint32_t k = 0; k < r->pair_count; k++)
        if (r->pairs[k].first >= r->pairs[k].second || r->pairs[k].second >= r->task_count)
            return nuioa_fail(err, -EINVAL, "pair %u is not of two local ranks", k);
    return 0;
}

int nuioa_plan_make(const struct nuioa_request *request, struct nuioa_plan *plan,
                    struct nuioa_error *err)
{
    struct planner planner;
    uint32_t start_us = now_us();
    *plan = (struct nuioa_plan){0};
    int rc = check(request, err);
    if (rc < 0)
        return rc;
    if (plan_alloc(plan, request) < 0) {
        nuioa_plan_free(plan);
        return nuioa_fail(err, -ENOMEM, "out of memory");
    }
    rc = planner_init(&planner, request, plan, err);
    if (rc == 0) {
        rc = decide(&planner);
        if (rc == 0)
            rc = describe(&planner);
        if (rc < 0)
            nuioa_fail(err, rc, "the placement failed: %s", strerror(-rc));
    }
    planner_free(&planner);
    if (rc < 0)
        nuioa_plan_free(plan);
    plan->time_us = now_us() - start_us;
    return rc;
}

int nuioa_plan_achieved(const struct nuioa_request *request, struct nuioa_plan *plan,
                        uint32_t local, hwloc_const_bitmap_t cpus)
{
    struct planner planner;
    if (local >= plan->task_count)
        return -EINVAL;
    if (hwloc_bitmap_isequal(plan->places[local].cpus, cpus))
        return 0;
    int rc = planner_init(&planner, request, plan, NULL);
    if (rc == 0 && hwloc_bitmap_copy(plan->places[local].cpus, cpus) < 0)
        rc = -ENOMEM;
    if (rc == 0)
        rc = describe(&planner);
    planner_free(&planner);
    return rc;
}

void nuioa_plan_free(struct nuioa_plan *plan)
{
    for (uint32_t i = 0; plan->places && i < plan->task_count; i++) {
        struct nuioa_place *place = &plan->places[i];
        hwloc_bitmap_free(place->cpus);
        hwloc_bitmap_free(place->numas);
        hwloc_bitmap_free(place->memory_numas);
        drop_places(place);
    }
    free(plan->places);
    free(plan->order);
    free(plan->rails);
    *plan = (struct nuioa_plan){0};
}

int nuioa_block_binding(const struct nuioa_node *node, hwloc_const_bitmap_t allowed,
                        uint32_t task_count, uint32_t cpus_per_task, hwloc_bitmap_t *cpus,
                        struct nuioa_error *err)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < task_count; i++) {
        uint32_t have = 0;
        hwloc_bitmap_zero(cpus[i]);
        while (have < cpus_per_task && at < node->pu_count) {
            uint32_t core = node->pus[at].core;
            for (; at < node->pu_count && node->pus[at].core == core; at++)
                if (hwloc_bitmap_isset(allowed, node->pus[at].os_index)) {
                    hwloc_bitmap_set(cpus[i], node->pus[at].os_index);
                    have++;
                }
        }
        if (have < cpus_per_task)
            return nuioa_fail(err, -ENOSPC,
                              "%u tasks of %u CPUs do not fit into the %d allowed CPUs (whole cores)",
                              task_count, cpus_per_task, hwloc_bitmap_weight(allowed));
    }
    return 0;
}
