/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/free_cores.h"

#include <errno.h>

#include "slots/core.h"

enum nuioa_reason nuioa_free_cores_shared(const struct nuioa_basis *b)
{
    return b->request->unconfined ? NUIOA_REASON_FREE_UNCONFINED
           : b->request->overlaps ? NUIOA_REASON_FREE_OVERLAP
                                  : NUIOA_REASON_NONE;
}

enum nuioa_reason nuioa_free_cores_refused(const struct nuioa_basis *b)
{
    const struct nuioa_request *r = b->request;
    if (r->bound_by_user)
        return NUIOA_REASON_FREE_BOUND;
    if (r->sees_gpu && !b->follows)
        return NUIOA_REASON_FREE_GPUS;
    if (nuioa_free_cores_shared(b) != NUIOA_REASON_NONE)
        return nuioa_free_cores_shared(b);
    if (r->options->cores == NUIOA_CORES_KEEP || r->options->cores == NUIOA_CORES_PACK)
        return NUIOA_REASON_FREE_KEEP;
    return r->options->asked ? NUIOA_REASON_NONE : NUIOA_REASON_FREE_NOT_ASKED;
}

hwloc_const_bitmap_t nuioa_free_cores_advised(const struct nuioa_basis *b,
                                              enum nuioa_reason refused)
{
    bool any = refused == NUIOA_REASON_NONE || refused == NUIOA_REASON_FREE_UNCONFINED;
    return any ? b->request->node->allowed_cpus : b->allowed_cpus;
}

int nuioa_free_cores_find(const struct nuioa_basis *b, hwloc_const_bitmap_t cpus,
                          hwloc_bitmap_t free_cpus)
{
    const struct nuioa_node *node = b->request->node;
    hwloc_bitmap_t other = hwloc_bitmap_alloc(), taken = hwloc_bitmap_alloc();
    int rc = other && taken && hwloc_bitmap_not(other, cpus) == 0 ? 0 : -ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < b->request->task_count; i++)
        if (hwloc_bitmap_or(other, other, b->request->tasks[i].cpus) < 0)
            rc = -ENOMEM;
    if (rc == 0)
        rc = nuioa_cores_whole(node, other, taken);
    if (rc == 0)
        rc = nuioa_cores_whole(node, cpus, free_cpus);
    if (rc == 0 && hwloc_bitmap_andnot(free_cpus, free_cpus, taken) < 0)
        rc = -ENOMEM;
    hwloc_bitmap_free(other);
    hwloc_bitmap_free(taken);
    return rc;
}

int nuioa_free_cores_copy(const struct nuioa_rails *rails, hwloc_const_bitmap_t free_cpus,
                          uint32_t numa, const struct nuioa_shape *masks, uint32_t count)
{
    hwloc_bitmap_t near = hwloc_bitmap_alloc();
    if (!near)
        return -ENOMEM;
    for (unsigned r = 0; r < rails->count; r++)
        hwloc_bitmap_or(near, near, rails->node->nics[rails->nic[r]].cpus);
    hwloc_bitmap_and(near, near, free_cpus);
    int rc = nuioa_shape_copy(rails->node, near, numa, masks, count);
    if (rc == -ENOSPC && !hwloc_bitmap_isequal(near, free_cpus))
        rc = nuioa_shape_copy(rails->node, free_cpus, numa, masks, count);
    hwloc_bitmap_free(near);
    return rc;
}
