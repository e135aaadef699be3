/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_derive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slots/core.h"
#include "plan/gpu_rank.h"
#include "plan/leader.h"
#include "nics/rail_assign.h"

/* Sets `out` to the NUMA nodes among `numas` that have memory which the step may use. If there is
 * none, it is the one such NUMA node that is nearest to any of `numas`. */
static void usable_memory(const struct planner *p, hwloc_const_bitmap_t numas, hwloc_bitmap_t out)
{
    const struct nuioa_node *node = p->basis.request->node;
    unsigned best_distance = UINT32_MAX, best = UINT32_MAX;
    hwloc_bitmap_zero(out);
    for (unsigned j = 0; j < node->numa_count; j++) {
        const struct nuioa_numa *numa = &node->numas[j];
        if (!numa->memory_bytes || !hwloc_bitmap_isset(p->basis.allowed_numas, numa->os_index))
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

/* Sets `numas` to the NUMA nodes of the NIC of a rank; of all its NICs if it is alone on its node,
 * because MPI stripes large messages over them. */
static void nic_memory(const struct planner *p, const struct nuioa_assignment *assignment,
                       hwloc_bitmap_t numas)
{
    const struct nuioa_node *node = p->basis.request->node;
    if (assignment->nic < 0 || !node->nics[assignment->nic].level)
        return;
    hwloc_bitmap_copy(numas, node->nics[assignment->nic].numas);
    for (uint32_t i = 1; p->basis.request->task_count == 1 && i < assignment->nic_count; i++)
        hwloc_bitmap_or(numas, numas, node->nics[assignment->nics[i]].numas);
}

/* Leaves only those of the memory's NUMA nodes that is nearest to the NIC of the rank. */
static void keep_nearest(const struct planner *p, struct nuioa_assignment *assignment)
{
    const struct nuioa_node *node = p->basis.request->node;
    uint32_t least = UINT32_MAX, nearest = 0;
    for (uint32_t i = 0; i < node->numa_count; i++)
        if (hwloc_bitmap_isset(assignment->memory_numas, node->numas[i].os_index) &&
            node->nics[assignment->nic].level[i] < least) {
            least = node->nics[assignment->nic].level[i];
            nearest = node->numas[i].os_index;
        }
    if (least != UINT32_MAX)
        hwloc_bitmap_only(assignment->memory_numas, nearest);
}

/* Each thread of a rank with several NUMA nodes finds its memory where it first touches it. For
 * users who asked for placement: notes what to type if there is one thread, or with mem=local, if
 * the user said that there is, leaves the memory that is nearest to the NIC. */
static void settle_wide(const struct planner *p, struct nuioa_assignment *assignment)
{
    const struct nuioa_request *r = p->basis.request;
    if (hwloc_bitmap_weight(assignment->memory_numas) < 2 || !r->options->asked || r->overlaps ||
        r->unconfined || r->bound_by_user || assignment->nic < 0 ||
        !r->node->nics[assignment->nic].level)
        return;
    if (r->options->mem == NUIOA_MEM_LOCAL && r->threads == 1)
        keep_nearest(p, assignment);
    else if (r->threads <= 1 && r->cpus_typed <= 1)
        p->plan->advice |= 1u << NUIOA_ADVICE_MEMORY;
}

/* Chooses the memory policy of a rank. mem=off sets none: a thread's first touch keeps memory
 * beside it, also if the program binds itself. mem=local prefers the memory of the rank's CPUs, if
 * that is one NUMA node, or if the user said that there is one thread. mem=nic prefers the memory
 * of its NIC, interleaved over those of all its NICs if it is alone. mem=interleave interleaves
 * over the NUMA nodes of all rails: data that arrives by two rails is faster there than in either
 * NUMA node ([PDCS 2007] in doc/design.md, section 5.3). */
static void choose_memory(const struct planner *p, struct nuioa_assignment *assignment)
{
    const struct nuioa_request *r = p->basis.request;
    hwloc_bitmap_t wanted = hwloc_bitmap_dup(assignment->numas);
    enum nuioa_mem mem = r->options->mem;
    assignment->memory = r->memory_by_user ? NUIOA_MEMORY_KEPT : NUIOA_MEMORY_DEFAULT;
    hwloc_bitmap_zero(assignment->memory_numas);
    if (!wanted || !p->acts || r->memory_by_user)
        goto out;
    if (mem == NUIOA_MEM_NIC)
        nic_memory(p, assignment, wanted);
    if (mem == NUIOA_MEM_INTERLEAVE && p->basis.rails.located)
        hwloc_bitmap_zero(wanted);
    for (unsigned i = 0; mem == NUIOA_MEM_INTERLEAVE && i < p->basis.rails.count; i++)
        hwloc_bitmap_or(wanted, wanted, r->node->nics[p->basis.rails.nic[i]].numas);

    usable_memory(p, wanted, assignment->memory_numas);
    if (mem == NUIOA_MEM_OFF || mem == NUIOA_MEM_LOCAL)
        settle_wide(p, assignment);
    int count = hwloc_bitmap_weight(assignment->memory_numas);
    bool striped = mem == NUIOA_MEM_NIC && r->task_count == 1 && assignment->nic_count > 1;
    if ((mem == NUIOA_MEM_INTERLEAVE || (striped && count > 1)) && count > 0)
        assignment->memory = NUIOA_MEMORY_INTERLEAVE;
    else if (mem == NUIOA_MEM_NIC && count > 0)
        assignment->memory = NUIOA_MEMORY_PREFERRED;
    /* With several NUMA nodes, the default policy (first touch) keeps memory local. */
    else if (mem == NUIOA_MEM_LOCAL && count == 1 && !r->bound_by_user)
        assignment->memory = NUIOA_MEMORY_PREFERRED;
    if (assignment->memory == NUIOA_MEMORY_PREFERRED)
        hwloc_bitmap_singlify(assignment->memory_numas);
    if (assignment->memory == NUIOA_MEMORY_DEFAULT)
        hwloc_bitmap_zero(assignment->memory_numas);
out:
    hwloc_bitmap_free(wanted);
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

/* Returns the rail of a NIC (index into node->nics), or -1 if it is none. */
static int rail_of(const struct nuioa_rails *rails, int32_t nic)
{
    for (unsigned r = 0; nic >= 0 && r < rails->count; r++)
        if (rails->nic[r] == (uint32_t)nic)
            return (int)r;
    return -1;
}

/* Measures the distance of one core from the rank's own NIC, because another NIC may be nearer to
 * some of its cores. */
static void measure_place(const struct planner *p, const struct nuioa_assignment *assignment,
                          struct omp_place *core)
{
    int rail = rail_of(&p->basis.rails, assignment->nic);
    if (rail < 0)
        return;
    core->level = nuioa_rail_level(&p->basis.rails, (unsigned)rail, core->cpus);
    core->tie =
        !hwloc_bitmap_isincluded(core->cpus, p->basis.request->node->nics[assignment->nic].cpus);
}

/* Lists the cores of an assignment, in the order of the machine: cores[count], which are all that
 * it has. Returns 0 or -ENOMEM. */
static int list_cores(const struct nuioa_node *node, const struct nuioa_assignment *assignment,
                      struct omp_place *cores, uint32_t count)
{
    uint32_t at = 0, last = UINT32_MAX;
    for (uint32_t i = 0; i < node->pu_count; i++) {
        const struct nuioa_pu *pu = &node->pus[i];
        if (!hwloc_bitmap_isset(assignment->cpus, pu->os_index))
            continue;
        at += last != UINT32_MAX && pu->core != last;
        last = pu->core;
        if (at >= count)
            break;
        cores[at].order = at;
        if (!cores[at].cpus && !(cores[at].cpus = hwloc_bitmap_alloc()))
            return -ENOMEM;
        hwloc_bitmap_set(cores[at].cpus, pu->os_index);
    }
    return 0;
}

/* Returns true if somebody said that ranks have CPUs for several threads. */
static bool has_room_for_threads(const struct nuioa_request *r)
{
    return r->cpus_per_task > 1 || r->cpus_typed > 1;
}

/* Notes what the user may type about the threads of a rank, whose cores are sorted by distance. To
 * bind threads helps if a core is nearer the NIC than another one, or if the cores have memory of
 * their own. */
static void advise_on_threads(const struct planner *p, const struct nuioa_assignment *assignment,
                              const struct omp_place *cores, uint32_t count)
{
    const struct nuioa_request *r = p->basis.request;
    const struct omp_place *first = &cores[0], *last = &cores[count - 1];
    bool differ = first->level != last->level || first->tie != last->tie ||
                  hwloc_bitmap_weight(assignment->numas) > 1;
    if (!p->acts || r->threads_by_user || r->threads == 1)
        return;
    if (r->options->threads == NUIOA_SWITCH_AUTO && has_room_for_threads(r) && differ)
        p->plan->advice |= 1u << NUIOA_ADVICE_THREADS;
    if (r->options->threads == NUIOA_SWITCH_ON && !has_room_for_threads(r))
        p->plan->advice |= 1u << NUIOA_ADVICE_THREADS_NEED_C;
}

/* Returns false for ranks that share their CPUs, or that the user left unbound: the kernel places
 * their threads. */
static bool places_wanted(const struct planner *p, const struct nuioa_assignment *assignment)
{
    const struct nuioa_request *r = p->basis.request;
    return r->options->threads != NUIOA_SWITCH_OFF && r->options->mode != NUIOA_OFF &&
           (assignment->moved ||
            !(nuioa_unbound(&p->basis) && (r->task_count > 1 || r->bound_by_user)));
}

/* Makes one OMP place for each core, the core nearest the rank's NIC first, because thread 0, which
 * communicates, belongs there. A rank with one core gets no places. */
static int list_places(const struct planner *p, struct nuioa_assignment *assignment)
{
    const struct nuioa_node *node = p->basis.request->node;
    const uint32_t count = nuioa_core_count(node, assignment->cpus);
    nuioa_assignment_drop_places(assignment);
    if (count < 2 || !places_wanted(p, assignment))
        return 0;
    struct omp_place *cores = calloc(count, sizeof(*cores));
    assignment->places = calloc(count, sizeof(*assignment->places));
    int rc = cores && assignment->places ? list_cores(node, assignment, cores, count) : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        measure_place(p, assignment, &cores[i]);
    if (rc == 0) {
        qsort(cores, count, sizeof(*cores), nearer_place);
        advise_on_threads(p, assignment, cores, count);
    }
    for (uint32_t i = 0; cores && i < count; i++) {
        if (rc == 0)
            assignment->places[assignment->place_count++] = cores[i].cpus;
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
    plan->order_count = plan->near = plan->rail_leader_count = 0;
    if (p->basis.request->options->leader == NUIOA_LEADER_OFF)
        return 0;
    struct nuioa_candidate *candidates = malloc(n * sizeof(*candidates));
    if (!candidates)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        const struct nuioa_assignment *assignment = &plan->assignments[i];
        candidates[i] = (struct nuioa_candidate){
            .local = i,
            .level = assignment->level,
            .weight = assignment->weight,
            .nic_count = assignment->nic_count,
            .nics = assignment->nics,
        };
    }
    if (p->basis.request->options->leader == NUIOA_LEADER_NEAR)
        plan->near = nuioa_leader_order(candidates, n);
    else
        plan->near = 1; /* leader=rank0: there is no other candidate */
    plan->rail_leader_count = nuioa_rail_leaders(candidates, n, plan->rail_leaders);
    for (uint32_t i = 0; i < n; i++)
        plan->order[i] = candidates[i].local;
    plan->order_count = n;
    free(candidates);
    return 0;
}

/* Notes that the user may type which rank uses which GPU, if as many ranks as GPUs see all of them;
 * or that this was typed in vain. */
static void advise_on_gpus(const struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    bool rule = nuioa_gpu_rank_is_rule(r->options->gpus), all = true, some = false;
    for (uint32_t i = 0; i < r->task_count; i++) {
        const struct nuioa_task *task = &r->tasks[i];
        some = some || task->gpus_shared;
        all = all && task->gpus_shared && task->seen_count == r->task_count &&
              !memcmp(task->seen, r->tasks[0].seen, r->task_count * sizeof(*task->seen));
    }
    if (r->options->mode != NUIOA_OFF && (rule ? some : all))
        p->plan->advice |= 1u << (rule ? NUIOA_ADVICE_GPUS_ORDER : NUIOA_ADVICE_GPUS);
}

int nuioa_plan_derive(struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    struct nuioa_plan *plan = p->plan;
    plan->moved = false;
    plan->advice = 0;
    advise_on_gpus(p);
    plan->binds_threads =
        r->options->threads == NUIOA_SWITCH_ON && p->acts && has_room_for_threads(r);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        assignment->rank = r->tasks[i].rank;
        assignment->weight = r->tasks[i].weight;
        assignment->moved = !hwloc_bitmap_isequal(assignment->cpus, r->tasks[i].cpus);
        plan->moved |= assignment->moved;
        nuioa_node_numas_of(r->node, assignment->cpus, assignment->numas);
    }
    int rc = nuioa_rails_assign(&p->basis.rails, r, plan->assignments);
    for (uint32_t i = 0; rc == 0 && i < plan->task_count; i++) {
        choose_memory(p, &plan->assignments[i]);
        rc = list_places(p, &plan->assignments[i]);
    }
    return rc == 0 ? choose_leaders(p) : rc;
}
