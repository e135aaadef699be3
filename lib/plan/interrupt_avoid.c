/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/interrupt_avoid.h"

#include <errno.h>
#include <stdlib.h>

struct core {
    hwloc_bitmap_t allowed; /* the PUs that the step may use */
    uint32_t l3;
    int32_t numa;
    bool disturbed;
    bool spare; /* undisturbed, and no rank has any of it */
};

struct cores {
    uint32_t count;
    struct core *list; /* by logical index */
};

static void cores_free(struct cores *cores)
{
    for (uint32_t i = 0; i < cores->count; i++)
        hwloc_bitmap_free(cores->list[i].allowed);
    free(cores->list);
}

static int list_cores(struct cores *cores, const struct nuioa_request *r,
                      hwloc_const_bitmap_t allowed)
{
    const struct nuioa_node *node = r->node;
    *cores = (struct cores){ 0 };
    cores->list = calloc(node->pu_count + 1, sizeof(*cores->list));
    if (!cores->list)
        return -ENOMEM;
    for (uint32_t i = 0; i < node->pu_count; i++) {
        const struct nuioa_pu *pu = &node->pus[i];
        if (!i || pu->core != node->pus[i - 1].core) {
            cores->list[cores->count] = (struct core){ .l3 = pu->l3, .numa = pu->numa };
            if (!(cores->list[cores->count++].allowed = hwloc_bitmap_alloc()))
                return -ENOMEM;
        }
        struct core *core = &cores->list[cores->count - 1];
        if (hwloc_bitmap_isset(allowed, pu->os_index))
            hwloc_bitmap_set(core->allowed, pu->os_index);
        core->disturbed |= hwloc_bitmap_isset(r->interrupt_cpus, pu->os_index);
    }
    return 0;
}

static void find_spare(struct cores *cores, const struct nuioa_slots *slots)
{
    for (uint32_t i = 0; i < cores->count; i++) {
        struct core *core = &cores->list[i];
        core->spare = !core->disturbed && !hwloc_bitmap_iszero(core->allowed);
        for (uint32_t s = 0; core->spare && s < slots->count; s++)
            core->spare = !hwloc_bitmap_intersects(core->allowed, slots->cpus[s]);
    }
}

/* Returns a spare core of the same NUMA node with at least `pus` allowed PUs, under the same L3 as
 * `from` if possible; NULL if there is none. */
static struct core *find_core(const struct cores *cores, const struct core *from, int pus)
{
    struct core *best = NULL;
    for (uint32_t i = 0; i < cores->count; i++) {
        struct core *core = &cores->list[i];
        if (!core->spare || core->numa != from->numa || hwloc_bitmap_weight(core->allowed) < pus)
            continue;
        if (!best || (best->l3 != from->l3 && core->l3 == from->l3))
            best = core;
    }
    return best;
}

/* Replaces the PUs `own` of a rank by as many PUs of core `to`. */
static void exchange(hwloc_bitmap_t cpus, hwloc_const_bitmap_t own, struct core *to)
{
    int left = hwloc_bitmap_weight(own);
    hwloc_bitmap_andnot(cpus, cpus, own);
    for (int cpu = -1; left && (cpu = hwloc_bitmap_next(to->allowed, cpu)) >= 0; left--)
        hwloc_bitmap_set(cpus, (unsigned)cpu);
    to->spare = false;
}

static int avoid_one(struct cores *cores, hwloc_bitmap_t cpus, struct nuioa_avoided *avoided)
{
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    bool disturbed = false, moved = false;
    if (!own)
        return -ENOMEM;
    for (uint32_t i = 0; i < cores->count; i++) {
        struct core *from = &cores->list[i];
        hwloc_bitmap_and(own, from->allowed, cpus);
        if (!from->disturbed || hwloc_bitmap_iszero(own))
            continue;
        struct core *to = find_core(cores, from, hwloc_bitmap_weight(own));
        disturbed = true;
        if (to)
            exchange(cpus, own, to);
        moved |= to != NULL;
    }
    avoided->disturbed += disturbed;
    avoided->moved += moved;
    hwloc_bitmap_free(own);
    return 0;
}

int nuioa_interrupt_avoid(const struct nuioa_request *request, hwloc_const_bitmap_t allowed,
                          struct nuioa_slots *slots, struct nuioa_avoided *avoided)
{
    struct cores cores;
    *avoided = (struct nuioa_avoided){ 0 };
    int rc = list_cores(&cores, request, allowed);
    if (rc == 0)
        find_spare(&cores, slots);
    for (uint32_t i = 0; rc == 0 && i < slots->count; i++)
        rc = avoid_one(&cores, slots->cpus[i], avoided);
    cores_free(&cores);
    return rc;
}
