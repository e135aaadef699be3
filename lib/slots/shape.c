/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/shape.h"

#include <errno.h>

#include "slots/core.h"
#include "slots/slot.h"
#include "util/arena.h"

/* Units that hold each other. CORE is the smallest. */
enum { SOCKET, L3, L2, CORE, UNITS };

/* A core of one NUMA node. The cores of a unit follow one another. */
struct place {
    uint32_t unit[UNITS]; /* the number of each unit that it is in */
    uint32_t first;       /* its PUs begin with node->pus[first] */
    uint32_t pus;         /* how many of them are used, or may be used */
};

struct range {
    uint32_t first, end;
};

/* Units of `from` are matched to units of `to`, one of each. A unit is named by its first core. */
struct match {
    struct place *from, *to;
    uint32_t from_count, to_count;
    uint32_t *owner[UNITS]; /* [to_count]: the unit of `from` that a unit of `to` is for, or NONE */
    bool *seen[UNITS];      /* [to_count]: the unit was tried for the present unit of `from` */
    uint32_t *core;         /* [from_count]: the core of `to` */
    struct nuioa_arena arena;
};

#define NONE UINT32_MAX

/* Lists the cores of `numa` with PUs in `cpus`. */
static uint32_t list_places(const struct nuioa_node *node, hwloc_const_bitmap_t cpus, int32_t numa,
                            struct place *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0, end; i < node->pu_count; i = end) {
        const struct nuioa_pu *pu = &node->pus[i];
        struct place place = { { pu->package, pu->l3, pu->l2, pu->core }, i, 0 };
        end = nuioa_core_end(node, i);
        for (uint32_t k = i; k < end; k++)
            place.pus +=
                node->pus[k].numa == numa && hwloc_bitmap_isset(cpus, node->pus[k].os_index);
        if (place.pus)
            list[count++] = place;
    }
    return count;
}

/* Allocates for `from` used PUs, and a NUMA node of `to` PUs. */
static int match_alloc(struct match *m, size_t from, size_t to)
{
    m->from = nuioa_arena_take(&m->arena, from, sizeof(*m->from));
    m->to = nuioa_arena_take(&m->arena, to, sizeof(*m->to));
    m->core = nuioa_arena_take(&m->arena, from, sizeof(*m->core));
    for (unsigned unit = 0; unit < UNITS; unit++) {
        m->owner[unit] = nuioa_arena_take(&m->arena, to, sizeof(*m->owner[unit]));
        m->seen[unit] = nuioa_arena_take(&m->arena, to, sizeof(*m->seen[unit]));
    }
    return m->arena.failed ? -ENOMEM : 0;
}

/* Returns the cores from `first` on, before `end`, that are in the same unit. */
static struct range unit_at(const struct place *list, uint32_t first, uint32_t end, unsigned unit)
{
    struct range range = { first, first };
    while (range.end < end && list[range.end].unit[unit] == list[first].unit[unit])
        range.end++;
    return range;
}

static bool match_units(const struct match *m, unsigned unit, struct range from, struct range to);

static bool fits(const struct match *m, unsigned unit, struct range from, struct range to)
{
    if (from.end - from.first > to.end - to.first)
        return false;
    return unit == CORE ? m->from[from.first].pus <= m->to[to.first].pus
                        : match_units(m, unit + 1, from, to);
}

/* Gives the unit of `from` that begins at `first` a unit of `to` that no other has; or one whose
 * owner takes another one (an augmenting path). */
static bool find_unit(const struct match *m, unsigned unit, uint32_t first, struct range from,
                      struct range to)
{
    struct range mine = unit_at(m->from, first, from.end, unit), other;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = to.first; i < to.end; i = other.end) {
            const uint32_t owner = m->owner[unit][i];
            other = unit_at(m->to, i, to.end, unit);
            if ((pass ? m->seen[unit][i] : owner != NONE) || !fits(m, unit, mine, other))
                continue;
            m->seen[unit][i] |= pass;
            if (pass && !find_unit(m, unit, owner, from, to))
                continue;
            m->owner[unit][i] = first;
            return true;
        }
    return false;
}

/* Gives each unit in `from` a unit in `to`. Returns false if there are too few that fit. */
static bool match_units(const struct match *m, unsigned unit, struct range from, struct range to)
{
    for (uint32_t i = to.first; i < to.end; i++)
        m->owner[unit][i] = NONE;
    for (uint32_t i = from.first; i < from.end; i = unit_at(m->from, i, from.end, unit).end) {
        for (uint32_t k = to.first; k < to.end; k++)
            m->seen[unit][k] = false;
        if (!find_unit(m, unit, i, from, to))
            return false;
    }
    return true;
}

/* Writes the core of each core, after match_units has said that there is one. */
static void take_cores(const struct match *m, unsigned unit, struct range from, struct range to)
{
    match_units(m, unit, from, to);
    for (uint32_t i = to.first; i < to.end; i++) {
        uint32_t owner = m->owner[unit][i];
        if (owner == NONE)
            continue;
        if (unit == CORE)
            m->core[owner] = i;
        else
            take_cores(m, unit + 1, unit_at(m->from, owner, from.end, unit),
                       unit_at(m->to, i, to.end, unit));
    }
}

/* Sets the mask's `out` to the PUs that those of its `like` become: of the n PUs that are used in a
 * core, the first is the first of the core's new core, and so on. */
static void copy_mask(const struct nuioa_node *node, const struct match *m,
                      hwloc_const_bitmap_t used, const struct nuioa_shape *mask)
{
    hwloc_bitmap_zero(mask->out);
    for (uint32_t k = 0; k < m->from_count; k++) {
        uint32_t i = m->from[k].first, end = nuioa_core_end(node, i), at = m->to[m->core[k]].first;
        for (; i < end; i++) {
            if (hwloc_bitmap_isset(mask->like, node->pus[i].os_index))
                hwloc_bitmap_set(mask->out, node->pus[at].os_index);
            at += hwloc_bitmap_isset(used, node->pus[i].os_index);
        }
    }
}

/* Does what nuioa_shape_copy does, with no preference for cores that a rail is attached to. */
static int copy(const struct nuioa_node *node, hwloc_const_bitmap_t free_cpus, uint32_t numa,
                const struct nuioa_shape *masks, uint32_t count)
{
    struct match m = { 0 };
    hwloc_bitmap_t used = nuioa_arena_bitmap(&m.arena, NULL);
    size_t size = 0;
    for (uint32_t i = 0; i < node->pu_count; i++)
        size += node->pus[i].numa == (int32_t)numa;
    int rc = used ? 0 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        rc = hwloc_bitmap_or(used, used, masks[i].like) < 0 ? -ENOMEM : 0;
    if (rc == 0)
        rc = match_alloc(&m, (size_t)hwloc_bitmap_weight(used), size);
    const struct nuioa_pu *pu = rc == 0 ? nuioa_first_pu(node, used) : NULL;
    if (pu) {
        m.from_count = list_places(node, used, pu->numa, m.from);
        m.to_count = list_places(node, free_cpus, (int32_t)numa, m.to);
    }
    struct range from = { 0, m.from_count }, to = { 0, m.to_count };
    uint32_t pus = 0; /* fewer than used ones, if these are not all on that NUMA node */
    for (uint32_t i = 0; i < m.from_count; i++)
        pus += m.from[i].pus;
    if (rc == 0 && (!m.from_count || (int)pus != hwloc_bitmap_weight(used) ||
                    m.from_count > m.to_count || !match_units(&m, SOCKET, from, to)))
        rc = -ENOSPC;
    if (rc == 0) {
        take_cores(&m, SOCKET, from, to);
        for (uint32_t i = 0; i < count; i++)
            copy_mask(node, &m, used, &masks[i]);
    }
    nuioa_arena_free(&m.arena);
    return rc;
}

int nuioa_shape_copy(const struct nuioa_basis *b, hwloc_const_bitmap_t free_cpus, uint32_t numa,
                     const struct nuioa_shape *masks, uint32_t count)
{
    const struct nuioa_rails *rails = &b->rails;
    hwloc_bitmap_t near = nuioa_arena_bitmap(b->arena, NULL);
    if (!near)
        return -ENOMEM;
    for (unsigned r = 0; r < rails->count; r++)
        hwloc_bitmap_or(near, near, rails->node->nics[rails->nic[r]].cpus);
    hwloc_bitmap_and(near, near, free_cpus);
    int rc = copy(rails->node, near, numa, masks, count);
    if (rc == -ENOSPC && !hwloc_bitmap_isequal(near, free_cpus))
        rc = copy(rails->node, free_cpus, numa, masks, count);
    return rc;
}
