/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/basis.h"

#include <errno.h>

#include "nics/gpu_distance.h"

int nuioa_basis_init(struct nuioa_basis *b, const struct nuioa_request *r,
                     struct nuioa_arena *arena, struct nuioa_warnings *warnings,
                     struct nuioa_error *err)
{
    *b = (struct nuioa_basis){
        .request = r,
        .arena = arena,
        .rank_cpus = nuioa_arena_bitmap(arena, NULL),
        .allowed_cpus = r->allowed_cpus ? r->allowed_cpus : r->node->allowed_cpus,
        .allowed_numas = r->allowed_numas ? r->allowed_numas : r->node->allowed_numas,
        .follows = nuioa_gpus_followed(r),
    };
    bool failed = arena->failed;
    for (uint32_t i = 0; !failed && i < r->task_count; i++)
        failed = hwloc_bitmap_or(b->rank_cpus, b->rank_cpus, r->tasks[i].cpus) < 0;
    return failed ? nuioa_fail(err, -ENOMEM, "out of memory")
                  : nuioa_rails_init(&b->rails, r->node, r->options, warnings, err);
}

uint32_t nuioa_nic_level(const struct nuioa_basis *b, uint32_t local, hwloc_const_bitmap_t cpus)
{
    return b->follows ? nuioa_gpu_nic_level(&b->rails, &b->request->tasks[local], cpus)
                      : nuioa_rails_nearest(&b->rails, cpus);
}

double nuioa_nic_price(const struct nuioa_basis *b, uint32_t local, hwloc_const_bitmap_t cpus)
{
    return b->follows ? nuioa_gpu_nic_price(&b->rails, &b->request->tasks[local], cpus)
                      : nuioa_rails_price(&b->rails, cpus);
}

bool nuioa_is_nearest(const struct nuioa_basis *b, hwloc_const_bitmap_t cpus)
{
    const struct nuioa_node *node = b->request->node;
    uint32_t level = NUIOA_NO_LEVEL;
    for (uint32_t i = 0; i < node->numa_count; i++) {
        uint32_t here = nuioa_rails_nearest(&b->rails, node->numas[i].cpus);
        if (hwloc_bitmap_intersects(node->numas[i].cpus, node->allowed_cpus) && here < level)
            level = here;
    }
    return nuioa_rails_nearest(&b->rails, cpus) == level;
}

bool nuioa_all_as_far(const struct nuioa_basis *b, hwloc_const_bitmap_t cpus)
{
    const struct nuioa_node *node = b->request->node;
    for (unsigned r = 0; r < b->rails.count; r++)
        for (uint32_t i = 0; i < node->numa_count; i++)
            if (hwloc_bitmap_intersects(node->numas[i].cpus, cpus) &&
                nuioa_rail_level(&b->rails, r, node->numas[i].cpus) !=
                    nuioa_rail_level(&b->rails, r, cpus))
                return false;
    return true;
}

bool nuioa_nothing_nearer(const struct nuioa_basis *b)
{
    return b->rails.count == 1 && nuioa_all_as_far(b, b->request->node->allowed_cpus);
}

bool nuioa_unbound(const struct nuioa_basis *b)
{
    const struct nuioa_request *r = b->request;
    for (uint32_t i = 1; i < r->task_count; i++)
        if (!hwloc_bitmap_isequal(r->tasks[i].cpus, r->tasks[0].cpus))
            return false;
    return r->task_count > 1 || hwloc_bitmap_isequal(r->tasks[0].cpus, b->allowed_cpus);
}

/* Returns true if two ranks have CPUs in common. */
static bool masks_overlap(const struct nuioa_basis *b)
{
    int sum = 0;
    for (uint32_t i = 0; i < b->request->task_count; i++)
        sum += hwloc_bitmap_weight(b->request->tasks[i].cpus);
    return sum != hwloc_bitmap_weight(b->rank_cpus);
}

bool nuioa_shares(const struct nuioa_basis *b)
{
    const struct nuioa_request *r = b->request;
    if (r->options->cores == NUIOA_CORES_SHARE)
        return nuioa_unbound(b) || masks_overlap(b);
    return r->options->cores == NUIOA_CORES_AUTO && r->options->asked &&
           (!r->sees_gpu || b->follows) && nuioa_unbound(b);
}
