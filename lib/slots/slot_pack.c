/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/slot_pack.h"

#include <errno.h>

#include "slots/core.h"

/* Sets `out` to the next unused cores from `first` on, until they have `cpus` CPUs. With `whole`
 * they must be on the NUMA node of `first`. Returns false if there are too few. */
static bool take_run(struct nuioa_core_list *c, uint32_t first, uint32_t cpus, bool whole,
                     hwloc_bitmap_t out)
{
    uint32_t have = 0, end = first;
    for (; end < c->count && have < cpus && !(whole && c->list[end].numa != c->list[first].numa);
         end++)
        have += c->used[end] ? 0 : c->list[end].pus;
    if (have < cpus)
        return false;
    hwloc_bitmap_zero(out);
    for (uint32_t i = first; i < end; i++)
        if (!c->used[i])
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

static int fill_slots(struct nuioa_slots *slots, struct nuioa_core_list *c, uint32_t cpus)
{
    struct core_run *runs = nuioa_arena_take(&c->arena, c->count, sizeof(*runs));
    if (!runs)
        return -ENOMEM;
    uint32_t n = list_runs(c, cpus, runs), slot = 0;
    share_out(runs, n, slots->count);
    for (uint32_t b = 0; b < n; b++) {
        uint32_t left = runs[b].share;
        for (uint32_t i = runs[b].first; i < runs[b].end && left; i++)
            if (!c->used[i] && take_run(c, i, cpus, true, slots->cpus[slot])) {
                slot++;
                left--;
            }
    }
    /* The remaining slots may span NUMA nodes. */
    for (uint32_t i = 0; i < c->count && slot < slots->count; i++)
        if (!c->used[i] && take_run(c, i, cpus, false, slots->cpus[slot]))
            slot++;
    return slot < slots->count ? -ENOSPC : 0;
}

int nuioa_slots_pack(struct nuioa_slots *slots, const struct nuioa_basis *basis,
                     hwloc_const_bitmap_t allowed, uint32_t cpus)
{
    struct nuioa_core_list cores;
    int rc = nuioa_core_list_open(&cores, &basis->rails, allowed);
    int kept = nuioa_slots_keep(slots, basis->request, 0);
    if (rc == 0)
        rc = kept < 0 ? kept : fill_slots(slots, &cores, cpus);
    nuioa_core_list_close(&cores);
    return rc;
}

/* Writes how many PUs `like` has in each of its cores, in descending order. */
static void shape_of(const struct nuioa_node *node, hwloc_const_bitmap_t like, uint32_t *pus)
{
    uint32_t cores = 0, last = UINT32_MAX;
    for (uint32_t i = 0; i < node->pu_count; i++) {
        if (!hwloc_bitmap_isset(like, node->pus[i].os_index))
            continue;
        if (node->pus[i].core != last)
            pus[cores++] = 0;
        last = node->pus[i].core;
        /* No core has the number UINT32_MAX, so each count was set to 0.
         * NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
        pus[cores - 1]++;
    }
    for (uint32_t i = 1; i < cores; i++)
        for (uint32_t k = i; k > 0 && pus[k] > pus[k - 1]; k--) {
            uint32_t swap = pus[k];
            pus[k] = pus[k - 1];
            pus[k - 1] = swap;
        }
}

/* Sets `cpus` to PUs of the cores from `first` on, with pus[i] PUs in the i-th core; a 0 ends
 * pus[]. With `whole` they must be on the NUMA node of `first`. Returns false if there are too
 * few. */
static bool fill_shape(struct nuioa_core_list *c, uint32_t first, const uint32_t *pus, bool whole,
                       hwloc_bitmap_t cpus)
{
    hwloc_bitmap_zero(cpus);
    for (uint32_t i = first; i < c->count && *pus; i++)
        if (c->list[i].pus >= *pus && (!whole || c->list[i].numa == c->list[first].numa))
            nuioa_core_list_take(c, i, *pus++, cpus);
    return !*pus;
}

bool nuioa_slot_nearer(const struct nuioa_basis *basis, hwloc_const_bitmap_t allowed,
                       hwloc_const_bitmap_t like, hwloc_bitmap_t cpus)
{
    const struct nuioa_node *node = basis->request->node;
    const struct nuioa_location at = nuioa_location_of(node, like);
    const uint32_t now = nuioa_rails_nearest(&basis->rails, like);
    struct nuioa_core_list c;
    bool found = false, opened = nuioa_core_list_open(&c, &basis->rails, allowed) == 0;
    uint32_t *pus = nuioa_arena_take(&c.arena, node->pu_count + 1, sizeof(*pus));
    if (opened && pus && at.pu) {
        shape_of(node, like, pus);
        for (uint32_t first = 0; first < c.count && !found && c.list[first].level < now; first++)
            found = fill_shape(&c, first, pus, !at.wide, cpus) &&
                    nuioa_rails_nearest(&basis->rails, cpus) < now;
    }
    nuioa_core_list_close(&c);
    return found;
}
