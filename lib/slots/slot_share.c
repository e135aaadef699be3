/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/slot_share.h"

#include <errno.h>
#include <stdlib.h>

#include "slots/core.h"

/* A mask while it is divided. */
struct division {
    const struct nuioa_node *node;
    const struct nuioa_rails *rails;
    hwloc_const_bitmap_t mask;
    struct nuioa_core *cores; /* [count]: nearest first */
    bool *used;               /* [count] */
    uint32_t count;
    uint32_t last; /* the core that was given out last; count: none yet */
};

/* Returns how many unused cores the NUMA node of the last core has. */
static uint32_t rest_of_numa(const struct division *d)
{
    uint32_t rest = 0;
    for (uint32_t i = 0; i < d->count && d->last < d->count; i++)
        rest += !d->used[i] && d->cores[i].numa == d->cores[d->last].numa;
    return rest;
}

/* Returns the unused core where the next slot begins: the nearest to the rails; of equally near
 * ones, one in the NUMA node where the slot before ended. */
static uint32_t find_first(const struct division *d)
{
    uint32_t first = d->count;
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->used[i])
            continue;
        if (first == d->count)
            first = i;
        if (d->last < d->count && d->cores[i].numa == d->cores[d->last].numa &&
            d->cores[i].level == d->cores[first].level)
            return i;
    }
    return first;
}

/* Returns true if a core is nearer to some rail than to the one that is nearest to core `first`. */
static bool has_other_rail(const struct division *d, uint32_t first, uint32_t core)
{
    const struct nuioa_core *a = &d->cores[first], *b = &d->cores[core];
    for (unsigned r = 0; d->rails->located && a->numa >= 0 && b->numa >= 0 && r < d->rails->count;
         r++) {
        const uint8_t *level = d->rails->level + (size_t)r * d->rails->numa_count;
        if (level[a->numa] == a->level)
            return b->level < level[b->numa];
    }
    return false;
}

/* Returns how far core `to` is from core `from`. Of equally far cores, one beside a rail of its own
 * counts as farther: it is left to another slot. */
static unsigned core_distance(const struct division *d, uint32_t from, uint32_t to)
{
    const struct nuioa_core *a = &d->cores[from], *b = &d->cores[to];
    unsigned equal = 2 * (a->package != b->package) + has_other_rail(d, from, to);
    if (a->numa == b->numa || a->numa < 0 || b->numa < 0 || !d->node->distance.count)
        return equal;
    return 4 * nuioa_distance_at(&d->node->distance, (uint32_t)a->numa, (uint32_t)b->numa) + equal;
}

/* Returns the unused core that is nearest to core `first`. */
static uint32_t find_next(const struct division *d, uint32_t first)
{
    uint32_t best = d->count;
    for (uint32_t i = 0; i < d->count; i++)
        if (!d->used[i] &&
            (best == d->count || core_distance(d, first, i) < core_distance(d, first, best)))
            best = i;
    return best;
}

static void take(struct division *d, uint32_t core, hwloc_bitmap_t cpus)
{
    nuioa_core_take(d->node, &d->cores[core], d->mask, UINT32_MAX, cpus);
    d->used[core] = true;
    d->last = core;
}

/* Returns true if the slots that follow come out even with the NUMA node where this one has ended
 * if this one gets a core more: then so many of them, with a core more each, fill the rest. */
static bool evens_out(const struct division *d, uint32_t size)
{
    uint32_t rest = rest_of_numa(d);
    return rest % size > 0 && rest % size <= rest / size + 1;
}

/* Fills the slots slot_of[0], slot_of[1], ... with as many cores each, and some with one more so
 * that none is left. Sets level[slot] to the level of the nearest core of each. */
static void divide(struct division *d, uint32_t count, const uint32_t *slot_of,
                   hwloc_bitmap_t *cpus, uint32_t *level)
{
    uint32_t size = d->count / count, extra = d->count % count;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t first = find_first(d);
        level[slot_of[k]] = d->cores[first].level;
        take(d, first, cpus[slot_of[k]]);
        for (uint32_t i = 1; i < size; i++)
            take(d, find_next(d, first), cpus[slot_of[k]]);
        if (extra && (extra == count - k || evens_out(d, size))) {
            take(d, find_next(d, first), cpus[slot_of[k]]);
            extra--;
        }
    }
}

/* Divides the mask that the tasks member[0], member[1], ... share among their slots, and sets
 * level[slot] to the level of the nearest core of each. */
static int divide_mask(struct nuioa_slots *slots, const struct nuioa_request *r,
                       const struct nuioa_rails *rails, const uint32_t *member, uint32_t members,
                       uint32_t *level)
{
    struct division d = { .node = r->node, .rails = rails, .mask = r->tasks[member[0]].cpus };
    d.cores = nuioa_cores_list(r->node, rails, d.mask, &d.count);
    d.used = calloc(d.count + 1, sizeof(*d.used));
    d.last = d.count;
    int rc = !d.cores || !d.used ? -ENOMEM : d.count < members ? -ENOSPC : 0;
    for (uint32_t k = 0; rc == 0 && k < members; k++)
        hwloc_bitmap_zero(slots->cpus[member[k]]);
    if (rc == 0)
        divide(&d, members, member, slots->cpus, level);
    free(d.cores);
    free(d.used);
    return rc;
}

/* Finds the tasks that have the same mask as task `first`. Returns how many there are; 0 if a task
 * before it has the mask, too; or -EEXIST if another mask overlaps with it. */
static int find_members(const struct nuioa_request *r, uint32_t first, uint32_t *member)
{
    int count = 0;
    for (uint32_t i = 0; i < r->task_count; i++) {
        if (hwloc_bitmap_isequal(r->tasks[i].cpus, r->tasks[first].cpus)) {
            if (i < first)
                return 0;
            member[count++] = i;
        } else if (hwloc_bitmap_intersects(r->tasks[i].cpus, r->tasks[first].cpus)) {
            return -EEXIST;
        }
    }
    return count;
}

/* Above every kind of a slot that nuioa_slots_price sets: a count of PUs and one of cores. */
#define DIVIDED 0x80000000u

static int share_all(struct nuioa_slots *slots, const struct nuioa_request *r,
                     const struct nuioa_rails *rails, uint32_t *member, uint32_t *level,
                     uint32_t *mask_of)
{
    for (uint32_t i = 0; i < r->task_count; i++) {
        int members = find_members(r, i, member);
        int rc = members > 1 ? divide_mask(slots, r, rails, member, (uint32_t)members, level)
                             : (members < 0 ? members : 0);
        if (rc < 0)
            return rc;
        for (int k = 0; members > 1 && k < members; k++)
            mask_of[member[k]] = i;
    }
    int rc = nuioa_slots_price(slots, r, rails, r->pair_count);
    for (uint32_t i = 0; rc == 0 && i < r->task_count; i++)
        if (mask_of[i] != UINT32_MAX) {
            slots->kind[i] = DIVIDED | mask_of[i];
            slots->tie[i] += 2 * level[i];
        }
    return rc;
}

int nuioa_slots_share(struct nuioa_slots *slots, const struct nuioa_request *request,
                      const struct nuioa_rails *rails)
{
    size_t n = request->task_count;
    uint32_t *member = malloc(n * sizeof(*member));
    uint32_t *level = malloc(n * sizeof(*level));
    uint32_t *mask_of = malloc(n * sizeof(*mask_of));
    int rc = nuioa_slots_keep(slots, request);
    if (!member || !level || !mask_of)
        rc = -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        mask_of[i] = UINT32_MAX;
    if (rc == 0)
        rc = share_all(slots, request, rails, member, level, mask_of);
    free(member);
    free(level);
    free(mask_of);
    return rc;
}
