/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"

#include <errno.h>
#include <stdlib.h>

#include "slots/core.h"

struct omp_place {
    hwloc_bitmap_t cpus;
    uint32_t level, tie, core;
};

static int nearer_place(const void *a, const void *b)
{
    const struct omp_place *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->core < y->core ? -1 : 1;
}

/* Lists the cores of an assignment, places[core count], with their distance from its own NIC,
 * because another NIC may be nearer to some of them. Returns 0 or -ENOMEM. */
static int list_cores(struct planner *p, const struct nuioa_assignment *assignment,
                      struct omp_place *places)
{
    const struct nuioa_node *node = p->basis.request->node;
    const int rail = nuioa_rail_of(&p->basis.rails, assignment->nic);
    struct omp_place *end = places;
    for (uint32_t i = 0; i < node->pu_count; i++) {
        const struct nuioa_pu *pu = &node->pus[i];
        if (!hwloc_bitmap_isset(assignment->cpus, pu->os_index))
            continue;
        if (end == places || end[-1].core != pu->core)
            *end++ = (struct omp_place){ .cpus = nuioa_arena_bitmap(&p->plan->arena, NULL),
                                         .core = pu->core };
        if (!end[-1].cpus)
            return -ENOMEM;
        hwloc_bitmap_set(end[-1].cpus, pu->os_index);
    }
    for (; rail >= 0 && places < end; places++) {
        places->level = nuioa_rail_level(&p->basis.rails, (unsigned)rail, places->cpus);
        places->tie = !hwloc_bitmap_isincluded(places->cpus, node->nics[assignment->nic].cpus);
    }
    return 0;
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
                              const struct omp_place *places, uint32_t count)
{
    const struct nuioa_request *r = p->basis.request;
    const struct omp_place *first = &places[0], *last = &places[count - 1];
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
    const struct nuioa_request *r = p->basis.request;
    const uint32_t count = nuioa_core_count(r->node, assignment->cpus);
    p->plan->binds_threads = r->options->threads == NUIOA_SWITCH_ON && p->acts && has_room(r);
    assignment->place_count = 0;
    if (count < 2 || !places_wanted(p, assignment))
        return 0;
    struct omp_place *places = nuioa_arena_take(&p->arena, count, sizeof(*places));
    assignment->places = nuioa_arena_take(&p->plan->arena, count, sizeof(hwloc_bitmap_t));
    if (!places || !assignment->places || list_cores(p, assignment, places) < 0)
        return -ENOMEM;
    qsort(places, count, sizeof(*places), nearer_place);
    advise_on_threads(p, assignment, places, count);
    for (; assignment->place_count < count; assignment->place_count++)
        assignment->places[assignment->place_count] = places[assignment->place_count].cpus;
    return 0;
}
