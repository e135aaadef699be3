/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"

#include <errno.h>
#include <stdlib.h>

#include "slots/core.h"

static int nearer_core(const void *a, const void *b)
{
    const struct nuioa_core *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Sorts the cores of an assignment by the distance from its own NIC, because another NIC may be
 * nearer to some of them. `cpus` is a bitmap for that. */
static void sort_cores(const struct nuioa_rails *rails, struct nuioa_core_list *cores, int32_t nic,
                       hwloc_bitmap_t cpus)
{
    const int rail = nuioa_rail_of(rails, nic);
    for (uint32_t i = 0; i < cores->count; i++) {
        struct nuioa_core *core = &cores->list[i];
        hwloc_bitmap_zero(cpus);
        nuioa_core_list_take(cores, i, UINT32_MAX, cpus);
        core->level = rail < 0 ? 0 : nuioa_rail_level(rails, (unsigned)rail, cpus);
        core->tie = rail >= 0 && !hwloc_bitmap_isincluded(cpus, rails->node->nics[nic].cpus);
    }
    qsort(cores->list, cores->count, sizeof(*cores->list), nearer_core);
}

/* Returns true if somebody said that ranks have CPUs for several threads. */
static bool has_room(const struct nuioa_request *r)
{
    return r->cpus_per_task > 1 || r->cpus_typed > 1;
}

/* Notes what the user may type about the threads of a rank, whose cores are sorted by distance. To
 * bind threads helps if a core is nearer the NIC than another one, or if the cores have memory of
 * their own. */
static void advise_on_threads(const struct planner *p, const struct nuioa_assignment *assignment,
                              const struct nuioa_core_list *cores)
{
    const struct nuioa_request *r = p->basis.request;
    const struct nuioa_core *first = cores->list, *last = &cores->list[cores->count - 1];
    bool differ = first->level != last->level || first->tie != last->tie ||
                  hwloc_bitmap_weight(assignment->numas) > 1;
    if (!p->acts || r->threads_by_user || r->threads == 1)
        return;
    if (r->options->threads == NUIOA_SWITCH_AUTO && has_room(r) && differ)
        p->plan->advice |= 1u << NUIOA_ADVICE_THREADS;
    if (r->options->threads == NUIOA_SWITCH_ON && !has_room(r))
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

int nuioa_plan_threads(struct planner *p, struct nuioa_assignment *assignment)
{
    const uint32_t count = nuioa_core_count(p->basis.request->node, assignment->cpus);
    struct nuioa_core_list cores;
    assignment->place_count = 0;
    if (count < 2 || !places_wanted(p, assignment))
        return 0;
    hwloc_bitmap_t cpus = nuioa_arena_bitmap(&p->arena, NULL);
    assignment->places = nuioa_arena_take(&p->plan->arena, count, sizeof(hwloc_bitmap_t));
    if (!cpus || !assignment->places ||
        nuioa_core_list_make(&cores, &p->basis, assignment->cpus) < 0)
        return -ENOMEM;
    sort_cores(&p->basis.rails, &cores, assignment->nic, cpus);
    advise_on_threads(p, assignment, &cores);
    for (uint32_t i = 0; i < count; i++) {
        if (!(assignment->places[i] = nuioa_arena_bitmap(&p->plan->arena, NULL)))
            return -ENOMEM;
        nuioa_core_list_take(&cores, i, UINT32_MAX, assignment->places[i]);
    }
    assignment->place_count = count;
    return 0;
}

bool nuioa_plan_binds_threads(const struct planner *p)
{
    const struct nuioa_request *r = p->basis.request;
    return r->options->threads == NUIOA_SWITCH_ON && p->acts && has_room(r);
}
