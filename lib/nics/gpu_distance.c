/* SPDX-License-Identifier: BSD-3-Clause */
#include "nics/gpu_distance.h"

#include <errno.h>
#include <math.h>

#include "topology/pci_path.h"

/* Returns the level of NUMA node `numa`, an index into node->numas, from the nearest NUMA node that
 * is local to the GPU, and from memory without CPUs only if no other is. Without a distance table
 * other NUMA nodes have level 1. */
static uint32_t level_from(const struct nuioa_node *node, const struct nuioa_gpu *gpu,
                           uint32_t numa)
{
    uint32_t least[2] = { NUIOA_NO_LEVEL, NUIOA_NO_LEVEL };
    for (uint32_t j = 0; j < node->numa_count; j++) {
        uint32_t here = j != numa;
        uint32_t *best = &least[hwloc_bitmap_iszero(node->numas[j].cpus)];
        if (node->distance.count)
            here = nuioa_level_at(&node->distance, j, numa);
        if (hwloc_bitmap_isset(gpu->numas, node->numas[j].os_index) && here < *best)
            *best = here;
    }
    return least[least[0] == NUIOA_NO_LEVEL];
}

uint32_t nuioa_gpu_level(const struct nuioa_node *node, const struct nuioa_task *task,
                         hwloc_const_bitmap_t cpus)
{
    uint32_t most = 0;
    for (uint32_t g = 0; g < task->gpu_count; g++)
        for (uint32_t i = 0; i < node->numa_count; i++) {
            if (!hwloc_bitmap_intersects(cpus, node->numas[i].cpus))
                continue;
            uint32_t level = level_from(node, &node->gpus[task->gpus[g]], i);
            most = level > most ? level : most;
        }
    return most;
}

uint32_t nuioa_gpu_nearest(const struct nuioa_node *node, const struct nuioa_task *task,
                           hwloc_const_bitmap_t cpus)
{
    uint32_t least = NUIOA_NO_LEVEL;
    for (uint32_t i = 0; i < node->numa_count; i++) {
        hwloc_const_bitmap_t numa = node->numas[i].cpus;
        if (!hwloc_bitmap_intersects(numa, cpus ? cpus : numa))
            continue;
        uint32_t level = nuioa_gpu_level(node, task, numa);
        least = level < least ? level : least;
    }
    return least;
}

int nuioa_gpu_near(const struct nuioa_node *node, const struct nuioa_task *task,
                   hwloc_const_bitmap_t cpus, uint32_t level, hwloc_bitmap_t near)
{
    int rc = 0;
    hwloc_bitmap_zero(near);
    for (uint32_t i = 0; rc == 0 && i < node->numa_count; i++)
        if (nuioa_gpu_level(node, task, node->numas[i].cpus) <= level)
            rc = hwloc_bitmap_or(near, near, node->numas[i].cpus);
    return rc < 0 || hwloc_bitmap_and(near, near, cpus) < 0 ? -ENOMEM : 0;
}

static bool is_located(const struct nuioa_node *node, const struct nuioa_gpu *gpu)
{
    return node->numa_count && level_from(node, gpu, 0) != NUIOA_NO_LEVEL;
}

enum nuioa_reason nuioa_gpus_forbid(const struct nuioa_request *r)
{
    const struct nuioa_options *o = r->options;
    if (o->gpus == NUIOA_GPU_KEEP || (o->gpus != NUIOA_GPU_FOLLOW && !o->asked))
        return NUIOA_REASON_GPUS_KEEP;
    if (o->cores == NUIOA_CORES_PACK)
        return NUIOA_REASON_GPUS;
    bool shared = false;
    for (uint32_t i = 0; i < r->task_count; i++)
        if (!r->tasks[i].gpus_known && !r->tasks[i].gpus_shared)
            return NUIOA_REASON_GPUS_UNKNOWN;
        else
            shared = shared || !r->tasks[i].gpus_known;
    if (shared)
        return NUIOA_REASON_GPUS_SHARED;
    for (uint32_t i = 0; i < r->task_count; i++)
        for (uint32_t g = 0; g < r->tasks[i].gpu_count; g++)
            if (!is_located(r->node, &r->node->gpus[r->tasks[i].gpus[g]]))
                return NUIOA_REASON_GPUS_NO_NUMA;
    return NUIOA_REASON_NONE;
}

bool nuioa_gpus_followed(const struct nuioa_request *r)
{
    bool some = false;
    for (uint32_t i = 0; i < r->task_count; i++)
        some |= r->tasks[i].gpu_count > 0;
    return some && r->sees_gpu && r->options->mode == NUIOA_ON && !r->stay &&
           ((!r->bound_by_user && !r->memory_by_rank) || r->options->force) &&
           nuioa_gpus_forbid(r) == NUIOA_REASON_NONE;
}

uint32_t nuioa_gpu_rail_distance(const struct nuioa_rails *rails, uint32_t gpu,
                                 hwloc_const_bitmap_t cpus, unsigned rail)
{
    const struct nuioa_node *node = rails->node;
    enum nuioa_path path = nuioa_path_at(node, gpu, rails->nic[rail]);
    if (!hwloc_bitmap_iszero(node->gpus[gpu].cpus) || !cpus)
        cpus = node->gpus[gpu].cpus;
    /* An unknown path is longer than every known one. */
    uint32_t distance = path != NUIOA_PATH_UNKNOWN
                            ? (uint32_t)path
                            : NUIOA_PATHS + nuioa_rail_distance(rails, cpus, rail);
    return 2 * distance + (node->nics[rails->nic[rail]].doubts != 0);
}

void nuioa_gpus_near_rails(const struct nuioa_rails *rails, const uint32_t *gpus, uint32_t count,
                           hwloc_const_bitmap_t cpus, bool *near)
{
    for (unsigned r = 0; r < rails->count; r++)
        near[r] = false;
    for (uint32_t g = 0; g < count; g++) {
        uint32_t nearest = UINT32_MAX;
        for (unsigned r = 0; r < rails->count; r++) {
            uint32_t here = nuioa_gpu_rail_distance(rails, gpus[g], cpus, r);
            nearest = here < nearest ? here : nearest;
        }
        for (unsigned r = 0; r < rails->count; r++)
            near[r] = near[r] || nuioa_gpu_rail_distance(rails, gpus[g], cpus, r) == nearest;
    }
}

/* Returns the rail that is nearest to a GPU, as in nics/rail_assign.h; of equally near ones that
 * with the lowest level from `cpus`, and then the lowest price. There is one. */
static unsigned own_rail(const struct nuioa_rails *rails, uint32_t gpu, hwloc_const_bitmap_t cpus)
{
    uint32_t least = UINT32_MAX, nearest = NUIOA_NO_LEVEL;
    unsigned own = 0;
    for (unsigned r = 0; r < rails->count; r++) {
        uint32_t here = nuioa_gpu_rail_distance(rails, gpu, cpus, r);
        uint32_t level = nuioa_rail_level(rails, r, cpus);
        if (here > least || (here == least && level > nearest) ||
            (here == least && level == nearest &&
             nuioa_rail_price(rails, r, cpus) >= nuioa_rail_price(rails, own, cpus)))
            continue;
        least = here;
        nearest = level;
        own = r;
    }
    return own;
}

uint32_t nuioa_gpu_nic_level(const struct nuioa_rails *rails, const struct nuioa_task *task,
                             hwloc_const_bitmap_t cpus)
{
    uint32_t most = 0;
    if (!task->gpu_count || !rails->count || !rails->located)
        return nuioa_rails_nearest(rails, cpus);
    for (uint32_t g = 0; g < task->gpu_count; g++) {
        uint32_t level = nuioa_rail_level(rails, own_rail(rails, task->gpus[g], cpus), cpus);
        most = level > most ? level : most;
    }
    return most;
}

double nuioa_gpu_nic_price(const struct nuioa_rails *rails, const struct nuioa_task *task,
                           hwloc_const_bitmap_t cpus)
{
    double most = 0;
    if (!task->gpu_count || !rails->count || !rails->located)
        return nuioa_rails_price(rails, cpus);
    for (uint32_t g = 0; g < task->gpu_count; g++)
        most = fmax(most, nuioa_rail_price(rails, own_rail(rails, task->gpus[g], cpus), cpus));
    return most;
}

/* Returns the distance of the GPU `other` from the rails that are nearest to `gpu`, the farthest of
 * which counts. */
static uint32_t distance_from(const struct nuioa_rails *rails, uint32_t gpu,
                              hwloc_const_bitmap_t cpus, uint32_t other)
{
    uint32_t nearest = UINT32_MAX, result = 0;
    for (unsigned r = 0; r < rails->count; r++) {
        uint32_t here = nuioa_gpu_rail_distance(rails, gpu, cpus, r);
        uint32_t there = nuioa_gpu_rail_distance(rails, other, cpus, r);
        if (here < nearest || (here == nearest && there > result))
            result = there;
        nearest = here < nearest ? here : nearest;
    }
    return result;
}

/* Returns how much a GPU needs a rail: its distance from those of picked[count]; 0 if one of these
 * is as near as any. */
static uint32_t need_of(const struct nuioa_rails *rails, uint32_t gpu, hwloc_const_bitmap_t cpus,
                        const uint32_t *picked, uint32_t count)
{
    uint32_t need = UINT32_MAX;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t here = distance_from(rails, picked[k], cpus, gpu);
        need = here < need ? here : need;
    }
    return need > distance_from(rails, gpu, cpus, gpu) ? need : 0;
}

uint32_t nuioa_gpus_pick(const struct nuioa_rails *rails, const struct nuioa_task *task,
                         hwloc_const_bitmap_t cpus, uint32_t count, uint32_t *picked)
{
    const uint32_t *gpus = task->gpus, all = task->gpu_count;
    for (uint32_t n = 0; n < all && n < count; n++) {
        uint32_t best = count < all ? all : n, most = 0;
        for (uint32_t g = 0; count < all && g < all; g++) {
            bool taken = false;
            for (uint32_t k = 0; k < n; k++)
                taken |= picked[k] == gpus[g];
            uint32_t need = taken ? 0 : need_of(rails, gpus[g], cpus, picked, n);
            if (!taken && (best == all || need > most)) {
                best = g;
                most = need;
            }
        }
        if (best == all) /* a GPU is named twice */
            return n;
        picked[n] = gpus[best];
    }
    return count < all ? count : all;
}
