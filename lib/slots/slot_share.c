/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/slot_share.h"

#include <errno.h>

#include "nics/gpu_distance.h"
#include "slots/core.h"

/* The slots of all tasks while masks are divided. */
struct sharing {
    struct nuioa_slots *slots;
    const struct nuioa_basis *basis;
    uint32_t *member; /* [task_count]: the tasks that share one mask */
    uint32_t *group;  /* [task_count]: those of them that have their GPUs in one place */
    uint32_t *level;  /* [task_count]: of the nearest core of a slot of a divided mask */
};

/* A mask while it is divided. */
struct division {
    const struct sharing *all;
    struct nuioa_core_list cores; /* of the mask */
    uint32_t last;                /* the core that was given out last; cores.count: none yet */
    uint32_t count;               /* how many slots divide it */
    const uint32_t *slot_of;      /* [count]: their numbers, the nearest first */
};

/* Returns how many unused cores the NUMA node of the last core has. */
static uint32_t rest_of_numa(const struct division *d)
{
    uint32_t rest = 0;
    for (uint32_t i = 0; i < d->cores.count && d->last < d->cores.count; i++)
        rest += !d->cores.list[i].used && d->cores.list[i].numa == d->cores.list[d->last].numa;
    return rest;
}

/* Returns the unused core where the next slot begins: the nearest to the rails; of equally near
 * ones, one in the NUMA node where the slot before ended. */
static uint32_t find_first(const struct division *d)
{
    uint32_t first = d->cores.count;
    for (uint32_t i = 0; i < d->cores.count; i++) {
        if (d->cores.list[i].used)
            continue;
        if (first == d->cores.count)
            first = i;
        if (d->last < d->cores.count && d->cores.list[i].numa == d->cores.list[d->last].numa &&
            d->cores.list[i].level == d->cores.list[first].level)
            return i;
    }
    return first;
}

/* Returns true if a core is nearer to some rail than to the one that is nearest to core `first`. */
static bool has_other_rail(const struct division *d, uint32_t first, uint32_t core)
{
    const struct nuioa_core *a = &d->cores.list[first], *b = &d->cores.list[core];
    for (unsigned r = 0;
         d->cores.rails->located && a->numa >= 0 && b->numa >= 0 && r < d->cores.rails->count;
         r++) {
        const uint8_t *level = d->cores.rails->level + (size_t)r * (d->cores.rails->numa_count + 1);
        if (level[a->numa] == a->level)
            return b->level < level[b->numa];
    }
    return false;
}

/* Returns how far core `to` is from core `from`. Of equally far cores, one beside a rail of its own
 * counts as farther: it is left to another slot. */
static unsigned core_distance(const struct division *d, uint32_t from, uint32_t to)
{
    const struct nuioa_core *a = &d->cores.list[from], *b = &d->cores.list[to];
    unsigned equal = 2 * (a->package != b->package) + has_other_rail(d, from, to);
    if (a->numa == b->numa || a->numa < 0 || b->numa < 0 || !d->cores.rails->node->distance.count)
        return equal;
    return 4 * nuioa_distance_at(&d->cores.rails->node->distance, (uint32_t)a->numa,
                                 (uint32_t)b->numa) +
           equal;
}

/* Returns the unused core that is nearest to core `first`. */
static uint32_t find_next(const struct division *d, uint32_t first)
{
    uint32_t best = d->cores.count;
    for (uint32_t i = 0; i < d->cores.count; i++)
        if (!d->cores.list[i].used &&
            (best == d->cores.count || core_distance(d, first, i) < core_distance(d, first, best)))
            best = i;
    return best;
}

static void take(struct division *d, uint32_t core, hwloc_bitmap_t cpus)
{
    nuioa_core_list_take(&d->cores, core, UINT32_MAX, cpus);
    d->last = core;
}

/* Returns true if the slots that follow come out even with the NUMA node where this one has ended
 * if this one gets a core more: then so many of them, with a core more each, fill the rest. */
static bool evens_out(const struct division *d, uint32_t size)
{
    uint32_t rest = rest_of_numa(d);
    return rest % size > 0 && rest % size <= rest / size + 1;
}

/* Gives the first slot the cores of the first larger one that is as near, if there is one. */
static void enlarge_first(const struct division *d)
{
    const struct nuioa_rails *rails = d->cores.rails;
    const uint32_t *level = d->all->level;
    hwloc_bitmap_t *cpus = d->all->slots->cpus;
    uint32_t slot = d->slot_of[0];
    hwloc_bitmap_t first = cpus[slot];
    for (uint32_t k = 1; k < d->count; k++) {
        uint32_t larger = d->slot_of[k];
        hwloc_bitmap_t other = cpus[larger];
        if (nuioa_core_count(rails->node, other) <= nuioa_core_count(rails->node, first) ||
            level[larger] != level[slot] ||
            nuioa_rails_nearest(rails, other) != nuioa_rails_nearest(rails, first) ||
            nuioa_rails_tie(rails, other) > nuioa_rails_tie(rails, first))
            continue;
        cpus[slot] = other;
        cpus[larger] = first;
        return;
    }
}

/* Fills the slots with as many cores each, and some with one more so that none is left: the first
 * is one of these if `first_larger`. Returns what the first is priced; with hints the sum of all,
 * in which the first counts twice, so that it never gets farther for the sake of another. */
static double fill(struct division *d, bool first_larger)
{
    uint32_t size = d->cores.count / d->count, extra = d->cores.count % d->count;
    double price = 0;
    for (uint32_t i = 0; i < d->cores.count; i++)
        d->cores.list[i].used = false;
    d->last = d->cores.count;
    for (uint32_t k = 0; k < d->count; k++) {
        uint32_t first = find_first(d), slot = d->slot_of[k];
        hwloc_bitmap_t cpus = d->all->slots->cpus[slot];
        hwloc_bitmap_zero(cpus);
        d->all->level[slot] = d->cores.list[first].level;
        take(d, first, cpus);
        for (uint32_t i = 1; i < size; i++)
            take(d, find_next(d, first), cpus);
        if (extra && ((k == 0 && first_larger) || extra == d->count - k || evens_out(d, size))) {
            take(d, find_next(d, first), cpus);
            extra--;
        }
        if (k == 0 || d->all->basis->request->hinted)
            price += (k == 0 ? 2 : 1) * nuioa_rails_price(d->cores.rails, cpus);
    }
    return price;
}

/* Fills the slots; the first is one of the larger ones unless that takes it, or with hints another,
 * farther from the rails, or CPUs follow GPUs. */
static void divide(struct division *d, bool follows)
{
    double price = fill(d, false);
    if (d->cores.count % d->count && !follows && fill(d, true) > price + 1e-9)
        fill(d, false);
    enlarge_first(d);
}

/* Divides `cpus` among the slots of the tasks member[count]. */
static int divide_among(const struct sharing *s, const uint32_t *member, uint32_t count,
                        hwloc_const_bitmap_t cpus, bool follows)
{
    struct division d = { .all = s, .count = count, .slot_of = member };
    if (nuioa_core_list_make(&d.cores, s->basis, cpus) < 0)
        return -ENOMEM;
    if (d.cores.count < count)
        return -ENOSPC;
    divide(&d, follows);
    return 0;
}

/* Sets `home` to those of the task's CPUs that are nearest to its GPUs. */
static int find_home(const struct nuioa_node *node, const struct nuioa_task *task,
                     hwloc_bitmap_t home)
{
    return nuioa_gpu_near(node, task, task->cpus, nuioa_gpu_nearest(node, task, task->cpus), home);
}

/* Divides the mask so that each task is beside its GPUs: those of one home divide that. Returns 0;
 * -ENOMEM; or -EINVAL if there is one home only, if homes overlap or leave CPUs out, or if some
 * task would have less than a fair share. */
static int divide_by_gpu(const struct sharing *s, uint32_t members)
{
    const struct nuioa_request *r = s->basis->request;
    struct nuioa_arena *arena = s->basis->arena;
    hwloc_const_bitmap_t mask = r->tasks[s->member[0]].cpus;
    hwloc_bitmap_t home = nuioa_arena_bitmap(arena, NULL), other = nuioa_arena_bitmap(arena, NULL);
    hwloc_bitmap_t left = nuioa_arena_bitmap(arena, mask);
    const uint32_t fair = nuioa_core_count(r->node, mask) / members;
    int rc = arena->failed ? -ENOMEM : 0;
    for (uint32_t i = 0; rc == 0 && i < members; i++) {
        uint32_t count = 0;
        rc = find_home(r->node, &r->tasks[s->member[i]], home);
        for (uint32_t k = 0; rc == 0 && k < members; k++) {
            rc = find_home(r->node, &r->tasks[s->member[k]], other);
            if (hwloc_bitmap_isequal(home, other))
                s->group[count++] = s->member[k];
        }
        if (rc < 0 || s->group[0] != s->member[i])
            continue;
        if (count == members || !fair || !hwloc_bitmap_isincluded(home, left) ||
            nuioa_core_count(r->node, home) < count * fair)
            return -EINVAL;
        hwloc_bitmap_andnot(left, left, home);
        rc = divide_among(s, s->group, count, home, false);
    }
    return rc == 0 && !hwloc_bitmap_iszero(left) ? -EINVAL : rc;
}

/* Divides the mask that the tasks member[members] share among their slots. */
static int divide_mask(const struct sharing *s, uint32_t members)
{
    int rc = s->basis->follows ? divide_by_gpu(s, members) : -EINVAL;
    if (rc != -EINVAL)
        return rc;
    return divide_among(s, s->member, members, s->basis->request->tasks[s->member[0]].cpus,
                        s->basis->follows);
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

static int share_all(const struct sharing *s)
{
    const struct nuioa_request *r = s->basis->request;
    for (uint32_t i = 0; i < r->task_count; i++) {
        int members = find_members(r, i, s->member);
        int rc = members > 1 ? divide_mask(s, (uint32_t)members) : (members < 0 ? members : 0);
        if (rc < 0)
            return rc;
    }
    int rc = nuioa_slots_price(s->slots, s->basis);
    for (uint32_t i = 0; rc == 0 && i < r->task_count; i++) {
        int members = find_members(r, i, s->member);
        for (int k = 0; members > 1 && k < members; k++) {
            uint32_t slot = s->member[k];
            s->slots->kind[slot] = DIVIDED | i;
            s->slots->tie[slot] += s->basis->rails.located ? 2 * s->level[slot] : 0;
        }
    }
    return rc;
}

int nuioa_slots_share(struct nuioa_slots *slots, const struct nuioa_basis *basis)
{
    const uint32_t n = basis->request->task_count;
    const struct sharing s = {
        .slots = slots,
        .basis = basis,
        .member = nuioa_arena_take(basis->arena, n, sizeof(*s.member)),
        .group = nuioa_arena_take(basis->arena, n, sizeof(*s.group)),
        .level = nuioa_arena_take(basis->arena, n, sizeof(*s.level)),
    };
    if (basis->arena->failed || nuioa_slots_keep(slots, basis, 0) < 0)
        return -ENOMEM;
    return share_all(&s);
}
