/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/core.h"

#include <stdlib.h>

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

uint32_t nuioa_core_take(const struct nuioa_node *node, const struct nuioa_core *core,
                         hwloc_const_bitmap_t allowed, uint32_t max, hwloc_bitmap_t cpus)
{
    uint32_t taken = 0;
    for (uint32_t i = core->first; i < core->end && taken < max; i++)
        if (hwloc_bitmap_isset(allowed, node->pus[i].os_index)) {
            hwloc_bitmap_set(cpus, node->pus[i].os_index);
            taken++;
        }
    return taken;
}

struct nuioa_core *nuioa_cores_list(const struct nuioa_node *node, const struct nuioa_rails *rails,
                                    hwloc_const_bitmap_t allowed, uint32_t *count)
{
    struct nuioa_core *cores = malloc((node->pu_count + 1) * sizeof(*cores));
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    *count = 0;
    for (uint32_t i = 0, end; cores && own && i < node->pu_count; i = end) {
        const struct nuioa_pu *pu = &node->pus[i];
        struct nuioa_core core = {
            .index = pu->core, .first = i, .package = pu->package, .numa = pu->numa
        };
        for (end = i; end < node->pu_count && node->pus[end].core == core.index; end++)
            ;
        core.end = end;
        hwloc_bitmap_zero(own);
        core.pus = nuioa_core_take(node, &core, allowed, UINT32_MAX, own);
        core.level = nuioa_rails_nearest(rails, own);
        core.tie = nuioa_rails_tie(rails, node, own);
        if (core.pus)
            cores[(*count)++] = core;
    }
    hwloc_bitmap_free(own);
    if (cores)
        qsort(cores, *count, sizeof(*cores), nearer_core);
    return cores;
}
