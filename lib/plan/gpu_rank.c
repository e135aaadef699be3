/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/gpu_rank.h"

bool nuioa_gpu_rank_is_rule(enum nuioa_gpu_mode mode)
{
    return mode == NUIOA_GPU_LOCAL_RANK || mode == NUIOA_GPU_LOCAL_RANK_BLOCK;
}

uint32_t nuioa_gpu_rank_place(enum nuioa_gpu_mode mode, uint32_t count, uint32_t local,
                              uint32_t task_count)
{
    if (mode == NUIOA_GPU_LOCAL_RANK_BLOCK)
        return (uint32_t)((uint64_t)(local % task_count) * count / task_count);
    return local % count;
}
