/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/slot_pack.h"

#include <errno.h>
#include <stdlib.h>

#include "slots/core.h"

/* Adds the next unused cores from `first` on to `out`, until they have `cpus` CPUs. With `whole`
 * they must be on the NUMA node of `first`. Returns false if there are too few. */
static bool take_run(const struct nuioa_node *node, const struct nuioa_core *cores, uint32_t count,
                     uint32_t first, bool *used, hwloc_const_bitmap_t allowed, uint32_t cpus,
                     bool whole, hwloc_bitmap_t out)
{
    uint32_t have = 0, end = first;
    for (; end < count && have < cpus && !(whole && cores[end].numa != cores[first].numa); end++)
        have += used[end] ? 0 : cores[end].pus;
    if (have < cpus)
        return false;
    for (uint32_t i = first; i < end; i++)
        if (!used[i]) {
            nuioa_core_take(node, &cores[i], allowed, UINT32_MAX, out);
            used[i] = true;
        }
    return true;
}

/* The cores first..end-1, which are on one NUMA node and at one level. */
struct core_run {
    uint32_t first, end, level;
    uint32_t room;  /* how many slots fit */
    uint32_t share; /* how many slots it gets */
};

static uint32_t list_runs(const struct nuioa_core *cores, uint32_t count, uint32_t cpus,
                          struct core_run *runs)
{
    uint32_t n = 0;
    for (uint32_t i = 0, have = 0; i < count; i++) {
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

static int fill_slots(struct nuioa_slots *slots, const struct nuioa_node *node,
                      const struct nuioa_core *cores, uint32_t count, hwloc_const_bitmap_t allowed,
                      uint32_t cpus)
{
    struct core_run *runs = calloc(count + 1, sizeof(*runs));
    bool *used = calloc(count + 1, sizeof(*used));
    uint32_t n = 0, slot = 0;
    if (runs && used)
        n = list_runs(cores, count, cpus, runs);
    share_out(runs, n, slots->count);
    for (uint32_t b = 0; b < n; b++) {
        uint32_t left = runs[b].share;
        for (uint32_t i = runs[b].first; i < runs[b].end && left; i++)
            if (!used[i] &&
                take_run(node, cores, count, i, used, allowed, cpus, true, slots->cpus[slot])) {
                slot++;
                left--;
            }
    }
    /* The remaining slots may span NUMA nodes. */
    for (uint32_t i = 0; runs && used && i < count && slot < slots->count; i++)
        if (!used[i] &&
            take_run(node, cores, count, i, used, allowed, cpus, false, slots->cpus[slot]))
            slot++;
    int rc = !runs || !used ? -ENOMEM : slot < slots->count ? -ENOSPC : 0;
    free(runs);
    free(used);
    return rc;
}

int nuioa_slots_pack(struct nuioa_slots *slots, const struct nuioa_request *request,
                     const struct nuioa_rails *rails, hwloc_const_bitmap_t allowed, uint32_t cpus)
{
    uint32_t count = 0;
    struct nuioa_core *cores = nuioa_cores_list(request->node, rails, allowed, &count);
    int rc = nuioa_slots_reserve(slots, request->task_count);
    if (!cores)
        rc = -ENOMEM;
    if (rc == 0)
        rc = fill_slots(slots, request->node, cores, count, allowed, cpus);
    free(cores);
    return rc;
}

/* Writes how many PUs `like` has in each of its cores, in descending order. Returns the number of
 * cores. */
static uint32_t shape_of(const struct nuioa_node *node, hwloc_const_bitmap_t like, uint32_t *pus)
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
    return cores;
}

/* Sets `cpus` to PUs of the cores from `first` on, with pus[i] PUs in the i-th of `wanted` cores.
 * With `whole` they must be on the NUMA node of `first`. Returns false if there are too few. */
static bool fill_shape(const struct nuioa_node *node, const struct nuioa_core *cores,
                       uint32_t count, uint32_t first, hwloc_const_bitmap_t allowed,
                       const uint32_t *pus, uint32_t wanted, bool whole, hwloc_bitmap_t cpus)
{
    uint32_t have = 0;
    hwloc_bitmap_zero(cpus);
    for (uint32_t i = first; i < count && have < wanted; i++)
        if (cores[i].pus >= pus[have] && (!whole || cores[i].numa == cores[first].numa))
            nuioa_core_take(node, &cores[i], allowed, pus[have++], cpus);
    return have == wanted;
}

bool nuioa_slot_nearer(const struct nuioa_request *request, const struct nuioa_rails *rails,
                       hwloc_const_bitmap_t allowed, hwloc_const_bitmap_t like, hwloc_bitmap_t cpus)
{
    const struct nuioa_node *node = request->node;
    const struct nuioa_pu *pu = nuioa_first_pu(node, like);
    uint32_t count = 0, now = nuioa_rails_nearest(rails, like);
    struct nuioa_core *cores = nuioa_cores_list(node, rails, allowed, &count);
    uint32_t *pus = malloc((node->pu_count + 1) * sizeof(*pus));
    bool found = false;
    if (cores && pus && pu) {
        uint32_t wanted = shape_of(node, like, pus);
        bool whole = nuioa_in_one_numa(node, pu, like);
        for (uint32_t first = 0; first < count && !found && cores[first].level < now; first++)
            found = fill_shape(node, cores, count, first, allowed, pus, wanted, whole, cpus) &&
                    nuioa_rails_nearest(rails, cpus) < now;
    }
    free(cores);
    free(pus);
    return found;
}
