/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/gpu_near.h"

#include "topology/pci_path.h"

/* Returns the level of NUMA node `numa`, an index into node->numas, from the nearest NUMA node that
 * is local to the GPU. Without a distance table other NUMA nodes have level 1. */
static uint32_t level_from(const struct nuioa_node *node, const struct nuioa_gpu *gpu,
                           uint32_t numa)
{
    uint32_t least = NUIOA_NO_LEVEL;
    for (uint32_t j = 0; j < node->numa_count; j++) {
        uint32_t here = j != numa;
        if (node->distance.count)
            here = nuioa_level_at(&node->distance, j, numa);
        if (hwloc_bitmap_isset(gpu->numas, node->numas[j].os_index) && here < least)
            least = here;
    }
    return least;
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

static bool is_located(const struct nuioa_node *node, const struct nuioa_gpu *gpu)
{
    return node->numa_count && level_from(node, gpu, 0) != NUIOA_NO_LEVEL;
}

enum nuioa_reason nuioa_gpus_forbid(const struct nuioa_request *r)
{
    const struct nuioa_options *o = r->options;
    if (o->gpus == NUIOA_GPU_KEEP || (o->gpus == NUIOA_GPU_AUTO && !o->asked))
        return NUIOA_REASON_GPUS_KEEP;
    if (o->policy == NUIOA_POLICY_CPU || o->cores == NUIOA_CORES_PACK)
        return NUIOA_REASON_GPUS;
    for (uint32_t i = 0; i < r->task_count; i++)
        if (!r->tasks[i].gpus_known)
            return NUIOA_REASON_GPUS_UNKNOWN;
    for (uint32_t i = 0; i < r->task_count; i++)
        for (uint32_t g = 0; g < r->tasks[i].gpu_count; g++)
            if (!is_located(r->node, &r->node->gpus[r->tasks[i].gpus[g]]))
                return NUIOA_REASON_GPUS_NO_NUMA;
    return NUIOA_REASON_COUNT;
}

bool nuioa_gpus_followed(const struct nuioa_request *r)
{
    bool some = false;
    for (uint32_t i = 0; i < r->task_count; i++)
        some |= r->tasks[i].gpu_count > 0;
    return some && r->sees_gpu && r->options->mode == NUIOA_ON && !r->stay &&
           (!r->bound_by_user || r->options->force) && nuioa_gpus_forbid(r) == NUIOA_REASON_COUNT;
}

/* Returns the level of `cpus` from the rail that is nearest to a GPU by PCIe path, as in
 * plan/rail_assign.h. If no path is known, the rails nearest to the GPU's CPUs count. */
static uint32_t level_of_own(const struct nuioa_rails *rails, const struct nuioa_node *node,
                             uint32_t gpu, hwloc_const_bitmap_t cpus)
{
    uint32_t least = UINT32_MAX, nearest = NUIOA_NO_LEVEL;
    for (unsigned r = 0; r < rails->count; r++) {
        uint32_t here = nuioa_path_at(node, gpu, rails->nic[r]);
        uint32_t level = nuioa_rail_level(rails, r, cpus);
        if (here == NUIOA_PATH_UNKNOWN)
            here = NUIOA_PATHS + nuioa_rail_distance(rails, node, node->gpus[gpu].cpus, r);
        if (here < least || (here == least && level < nearest))
            nearest = level;
        least = here < least ? here : least;
    }
    return nearest;
}

uint32_t nuioa_gpu_nic_level(const struct nuioa_rails *rails, const struct nuioa_node *node,
                             const struct nuioa_task *task, hwloc_const_bitmap_t cpus)
{
    uint32_t most = 0;
    if (!task->gpu_count || !rails->count || !rails->located)
        return nuioa_rails_nearest(rails, cpus);
    for (uint32_t g = 0; g < task->gpu_count; g++) {
        uint32_t level = level_of_own(rails, node, task->gpus[g], cpus);
        most = level > most ? level : most;
    }
    return most;
}
