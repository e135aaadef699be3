/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_GPU_RANK_H
#define NUIOA_PLAN_GPU_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "option/option.h"

/* Which of the GPUs that several ranks of a node see each of them takes, where the user or the site
 * says by which rule (option gpus=local-rank). */

/* Returns true if the option is such a rule. */
static inline bool nuioa_gpu_rank_is_rule(enum nuioa_gpu_mode mode)
{
    return mode == NUIOA_GPU_LOCAL_RANK || mode == NUIOA_GPU_LOCAL_RANK_BLOCK;
}

/* Returns the place of the GPU of local rank `local`, one of `task_count` on its node, among the
 * `count` GPUs that it sees, in the order of its program's numbers: `local` modulo `count`, or with
 * local-rank:block local * count / task_count. `count` and `task_count` are not 0, and `mode` is a
 * rule. */
static inline uint32_t nuioa_gpu_rank_place(enum nuioa_gpu_mode mode, uint32_t count,
                                            uint32_t local, uint32_t task_count)
{
    if (mode == NUIOA_GPU_LOCAL_RANK_BLOCK)
        return (uint32_t)((uint64_t)(local % task_count) * count / task_count);
    return local % count;
}

#endif
