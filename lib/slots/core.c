/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/core.h"

#include <errno.h>
#include <stdlib.h>

uint32_t nuioa_core_count(const struct nuioa_node *node, hwloc_const_bitmap_t cpus)
{
    uint32_t cores = 0, last = UINT32_MAX;
    int left = hwloc_bitmap_weight(cpus);
    for (uint32_t i = 0; left && i < node->pu_count; i++) {
        if (!hwloc_bitmap_isset(cpus, node->pus[i].os_index))
            continue;
        cores += node->pus[i].core != last;
        last = node->pus[i].core;
        left--;
    }
    return cores;
}

uint32_t nuioa_core_end(const struct nuioa_node *node, uint32_t first)
{
    uint32_t end = first;
    while (end < node->pu_count && node->pus[end].core == node->pus[first].core)
        end++;
    return end;
}

int nuioa_cores_whole(const struct nuioa_node *node, hwloc_const_bitmap_t cpus,
                      hwloc_bitmap_t whole)
{
    int rc = 0;
    hwloc_bitmap_zero(whole);
    for (uint32_t i = 0, end; i < node->pu_count; i = end) {
        bool any = false;
        end = nuioa_core_end(node, i);
        for (uint32_t k = i; !any && k < end; k++)
            any = hwloc_bitmap_isset(cpus, node->pus[k].os_index);
        for (uint32_t k = i; any && rc == 0 && k < end; k++)
            rc = hwloc_bitmap_set(whole, node->pus[k].os_index) < 0 ? -ENOMEM : 0;
    }
    return rc;
}

static int nearer_core(const void *a, const void *b)
{
    const struct nuioa_core *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->numa != y->numa) /* one NUMA node after the other, so that few slots span two */
        return x->numa < y->numa ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Adds the first allowed PUs of a core to `cpus`, at most `max`. Returns how many it added. */
static uint32_t take(const struct nuioa_core_list *cores, const struct nuioa_core *core,
                     uint32_t max, hwloc_bitmap_t cpus)
{
    const struct nuioa_pu *pus = cores->rails->node->pus;
    uint32_t taken = 0;
    for (uint32_t i = core->first; i < core->end && taken < max; i++)
        if (hwloc_bitmap_isset(cores->allowed, pus[i].os_index)) {
            hwloc_bitmap_set(cpus, pus[i].os_index);
            taken++;
        }
    return taken;
}

void nuioa_core_list_take(struct nuioa_core_list *cores, uint32_t index, uint32_t max,
                          hwloc_bitmap_t cpus)
{
    take(cores, &cores->list[index], max, cpus);
    cores->list[index].used = true;
}

int nuioa_core_list_make(struct nuioa_core_list *cores, const struct nuioa_basis *basis,
                         hwloc_const_bitmap_t allowed)
{
    const struct nuioa_rails *rails = &basis->rails;
    const struct nuioa_node *node = rails->node;
    const uint32_t most = nuioa_core_count(node, allowed);
    hwloc_bitmap_t own = nuioa_arena_bitmap(basis->arena, NULL);
    *cores = (struct nuioa_core_list){ .rails = rails, .allowed = allowed };
    cores->list = nuioa_arena_take(basis->arena, most, sizeof(*cores->list));
    if (basis->arena->failed)
        return -ENOMEM;
    for (uint32_t i = 0, end; i < node->pu_count; i = end) {
        const struct nuioa_pu *pu = &node->pus[i];
        struct nuioa_core core = {
            .index = pu->core, .first = i, .package = pu->package, .numa = pu->numa
        };
        core.end = end = nuioa_core_end(node, i);
        hwloc_bitmap_zero(own);
        core.pus = take(cores, &core, UINT32_MAX, own);
        core.level = nuioa_rails_nearest(rails, own);
        core.tie = nuioa_rails_tie(rails, own);
        if (core.pus)
            cores->list[cores->count++] = core;
    }
    qsort(cores->list, cores->count, sizeof(*cores->list), nearer_core);
    return 0;
}
