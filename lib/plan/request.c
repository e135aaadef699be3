/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/request.h"

#include <errno.h>

int nuioa_request_check(const struct nuioa_request *r, struct nuioa_error *err)
{
    if (!r->task_count)
        return nuioa_fail(err, -EINVAL, "no tasks to place");
    for (uint32_t i = 0; i < r->task_count; i++)
        if (hwloc_bitmap_iszero(r->tasks[i].cpus) || hwloc_bitmap_last(r->tasks[i].cpus) < 0)
            return nuioa_fail(err, -EINVAL, "rank %u has no CPUs", r->tasks[i].rank);
    for (uint32_t i = 0; i < r->task_count; i++)
        for (uint32_t k = 0; k < r->tasks[i].gpu_count; k++)
            if (r->tasks[i].gpus[k] >= r->node->gpu_count)
                return nuioa_fail(err, -EINVAL, "rank %u has a GPU that the node lacks",
                                  r->tasks[i].rank);
    for (uint32_t i = 0; i < r->task_count; i++)
        for (uint32_t k = 0; k < r->tasks[i].seen_count; k++)
            if (r->tasks[i].seen[k] >= r->node->gpu_count)
                return nuioa_fail(err, -EINVAL, "rank %u sees a GPU that the node lacks",
                                  r->tasks[i].rank);
    for (uint32_t k = 0; k < r->pair_count; k++)
        if (r->pairs[k].first >= r->pairs[k].second || r->pairs[k].second >= r->task_count)
            return nuioa_fail(err, -EINVAL, "pair %u is not of two local ranks", k);
    return 0;
}

int nuioa_default_binding(const struct nuioa_node *node, hwloc_const_bitmap_t allowed,
                          uint32_t task_count, uint32_t cpus_per_task, hwloc_bitmap_t *cpus,
                          struct nuioa_error *err)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < task_count; i++) {
        uint32_t have = 0;
        hwloc_bitmap_zero(cpus[i]);
        while (have < cpus_per_task && at < node->pu_count) {
            uint32_t core = node->pus[at].core;
            for (; at < node->pu_count && node->pus[at].core == core; at++)
                if (hwloc_bitmap_isset(allowed, node->pus[at].os_index)) {
                    hwloc_bitmap_set(cpus[i], node->pus[at].os_index);
                    have++;
                }
        }
        if (have < cpus_per_task)
            return nuioa_fail(err, -ENOSPC,
                              "%u tasks of %u CPUs do not fit into the %d allowed CPUs (whole "
                              "cores)",
                              task_count, cpus_per_task, hwloc_bitmap_weight(allowed));
    }
    return 0;
}
