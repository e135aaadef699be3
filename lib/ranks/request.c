/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/request.h"

#include <errno.h>

int nuioa_request_check(const struct nuioa_request *r, struct nuioa_error *err)
{
    if (!r->task_count)
        return nuioa_fail(err, -EINVAL, "no tasks to place");
    for (uint32_t i = 0; i < r->task_count; i++) {
        const struct nuioa_task *task = &r->tasks[i];
        if (hwloc_bitmap_iszero(task->cpus) || hwloc_bitmap_last(task->cpus) < 0)
            return nuioa_fail(err, -EINVAL, "rank %u has no CPUs", task->rank);
        for (uint32_t k = 0; k < task->gpu_count; k++)
            if (task->gpus[k] >= r->node->gpu_count)
                return nuioa_fail(err, -EINVAL, "rank %u has a GPU that the node lacks",
                                  task->rank);
        for (uint32_t k = 0; k < task->seen_count; k++)
            if (task->seen[k] >= r->node->gpu_count)
                return nuioa_fail(err, -EINVAL, "rank %u sees a GPU that the node lacks",
                                  task->rank);
    }
    for (uint32_t k = 0; k < r->pair_count; k++)
        if (r->pairs[k].first >= r->pairs[k].second || r->pairs[k].second >= r->task_count)
            return nuioa_fail(err, -EINVAL, "pair %u is not of two local ranks", k);
    return 0;
}

/* Gives each task the next `each` CPUs: whole cores, or with `whole` false single hardware threads.
 * Returns false if there are too few. */
static bool give(const struct nuioa_node *node, hwloc_const_bitmap_t allowed, uint32_t task_count,
                 uint32_t each, bool whole, hwloc_bitmap_t *cpus)
{
    for (uint32_t i = 0, at = 0; i < task_count; i++) {
        uint32_t have = 0, core = UINT32_MAX;
        hwloc_bitmap_zero(cpus[i]);
        for (; at < node->pu_count; core = node->pus[at++].core) {
            if (have >= each && !(whole && node->pus[at].core == core))
                break;
            if (hwloc_bitmap_isset(allowed, node->pus[at].os_index)) {
                hwloc_bitmap_set(cpus[i], node->pus[at].os_index);
                have++;
            }
        }
        if (have < each)
            return false;
    }
    return true;
}

int nuioa_default_binding(const struct nuioa_node *node, hwloc_const_bitmap_t allowed,
                          uint32_t task_count, uint32_t cpus_per_task, hwloc_bitmap_t *cpus,
                          struct nuioa_error *err)
{
    if (give(node, allowed, task_count, cpus_per_task, true, cpus) ||
        give(node, allowed, task_count, cpus_per_task, false, cpus))
        return 0;
    return nuioa_fail(err, -ENOSPC, "%u tasks of %u CPUs do not fit into the %d allowed CPUs",
                      task_count, cpus_per_task, hwloc_bitmap_weight(allowed));
}
