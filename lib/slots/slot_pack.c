/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/slot_pack.h"

#include <errno.h>
#include <stdlib.h>

#include "slots/core.h"

/* Sets `out` to the next unused cores from `first` on, until they have `cpus` CPUs. With `whole`
 * they must be on the NUMA node of `first`. Returns false if there are too few. */
static bool take_run(struct nuioa_core_list *c, uint32_t first, uint32_t cpus, bool whole,
                     hwloc_bitmap_t out)
{
    uint32_t have = 0, end = first;
    for (; end < c->count && have < cpus && !(whole && c->list[end].numa != c->list[first].numa);
         end++)
        have += c->list[end].used ? 0 : c->list[end].pus;
    if (have < cpus)
        return false;
    hwloc_bitmap_zero(out);
    for (uint32_t i = first; i < end; i++)
        if (!c->list[i].used)
            nuioa_core_list_take(c, i, UINT32_MAX, out);
    return true;
}

/* The cores first..end-1, which are on one NUMA node and at one level. */
struct core_run {
    uint32_t first, end, level;
    uint32_t room;  /* how many slots fit */
    uint32_t share; /* how many slots it gets */
};

static uint32_t list_runs(const struct nuioa_core_list *c, uint32_t cpus, struct core_run *runs)
{
    const struct nuioa_core *cores = c->list;
    uint32_t n = 0;
    for (uint32_t i = 0, have = 0; i < c->count; i++) {
        if (!i || cores[i].numa != cores[i - 1].numa || cores[i].level != cores[i - 1].level) {
            runs[n++] = (struct core_run){ .first = i, .level = cores[i].level };
            have = 0;
        }
        runs[n - 1].end = i + 1;
        have += cores[i].pus;
        if (have >= cpus) {
            runs[n - 1].room++;
            have = 0;
        }
    }
    return n;
}

/* Shares the tasks out. The NUMA nodes of NICs (level 0) share them evenly, so that all NICs are
 * used. Farther NUMA nodes are filled one after the other, so that neighbours stay together. */
static void share_out(struct core_run *runs, uint32_t count, uint32_t tasks)
{
    bool room = true;
    while (tasks && room) {
        room = false;
        for (uint32_t b = 0; b < count && runs[b].level == 0 && tasks; b++)
            if (runs[b].share < runs[b].room) {
                runs[b].share++;
                tasks--;
                room = true;
            }
    }
    for (uint32_t b = 0; b < count && tasks; b++) {
        uint32_t left = runs[b].room - runs[b].share, more = left < tasks ? left : tasks;
        runs[b].share += more;
        tasks -= more;
    }
}

int nuioa_slots_pack(struct nuioa_slots *slots, const struct nuioa_basis *basis,
                     hwloc_const_bitmap_t allowed, uint32_t cpus)
{
    struct nuioa_core_list c;
    if (nuioa_core_list_make(&c, basis, allowed) < 0 || nuioa_slots_keep(slots, basis, 0) < 0)
        return -ENOMEM;
    struct core_run *runs = nuioa_arena_take(basis->arena, c.count, sizeof(*runs));
    if (!runs)
        return -ENOMEM;
    uint32_t n = list_runs(&c, cpus, runs), slot = 0;
    share_out(runs, n, slots->count);
    for (uint32_t b = 0; b < n; b++) {
        uint32_t left = runs[b].share;
        for (uint32_t i = runs[b].first; i < runs[b].end && left; i++)
            if (!c.list[i].used && take_run(&c, i, cpus, true, slots->cpus[slot])) {
                slot++;
                left--;
            }
    }
    /* The remaining slots may span NUMA nodes. */
    for (uint32_t i = 0; i < c.count && slot < slots->count; i++)
        if (!c.list[i].used && take_run(&c, i, cpus, false, slots->cpus[slot]))
            slot++;
    return slot < slots->count ? -ENOSPC : nuioa_slots_price(slots, basis);
}

static int more_pus(const void *a, const void *b)
{
    const struct nuioa_core *x = a, *y = b;
    return x->pus > y->pus ? -1 : x->pus < y->pus;
}

/* Sets `cpus` to PUs of the cores of `c` from `first` on: as many in each as the cores of `like`
 * have, one after the other. With `whole` they must be on the NUMA node of `first`. Returns false
 * if there are too few. */
static bool fill_shape(struct nuioa_core_list *c, uint32_t first,
                       const struct nuioa_core_list *like, bool whole, hwloc_bitmap_t cpus)
{
    uint32_t have = 0;
    hwloc_bitmap_zero(cpus);
    for (uint32_t i = first; i < c->count && have < like->count; i++)
        if (c->list[i].pus >= like->list[have].pus &&
            (!whole || c->list[i].numa == c->list[first].numa))
            nuioa_core_list_take(c, i, like->list[have++].pus, cpus);
    return have == like->count;
}

bool nuioa_slot_nearer(const struct nuioa_basis *basis, hwloc_const_bitmap_t allowed,
                       hwloc_const_bitmap_t like, hwloc_bitmap_t cpus)
{
    const struct nuioa_location at = nuioa_location_of(basis->request->node, like);
    const uint32_t now = nuioa_rails_nearest(&basis->rails, like);
    struct nuioa_core_list c, shape;
    bool found = false;
    if (nuioa_core_list_make(&c, basis, allowed) < 0 ||
        nuioa_core_list_make(&shape, basis, like) < 0 || !shape.count)
        return false;
    qsort(shape.list, shape.count, sizeof(*shape.list), more_pus);
    for (uint32_t first = 0; first < c.count && !found && c.list[first].level < now; first++)
        found = fill_shape(&c, first, &shape, !at.wide, cpus) &&
                nuioa_rails_nearest(&basis->rails, cpus) < now;
    return found;
}
