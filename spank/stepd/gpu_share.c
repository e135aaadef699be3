/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/gpu_share.h"

#define WORDS (sizeof(((struct task_gpu_set *)NULL)->bits) / sizeof(uint64_t))

uint32_t gpu_share_count(const struct task_gpu_set *set)
{
    uint32_t count = 0;
    for (unsigned k = 0; k < WORDS; k++)
        count += (uint32_t)__builtin_popcountll(set->bits[k]);
    return count;
}

struct gpu_share gpu_share_find(const struct task_gpu_set *sets, uint32_t count)
{
    struct gpu_share share = { .count = count };
    uint64_t once[WORDS] = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        bool any = sets[i].state == TASK_GPUS_OPEN ||
                   (sets[i].state == TASK_GPUS_UNKNOWN && !gpu_share_count(&sets[i]));
        for (unsigned k = 0; k < WORDS; k++) {
            uint64_t bits = any ? UINT64_MAX : sets[i].bits[k];
            share.twice[k] |= once[k] & bits;
            once[k] |= bits;
        }
    }
    return share;
}

bool gpu_share_is_own(const struct gpu_share *share, const struct task_gpu_set *set)
{
    bool met = false;
    for (unsigned k = 0; k < WORDS; k++)
        met = met || (share->twice[k] & set->bits[k]);
    return !met || share->count <= 1 || gpu_share_count(set) <= 1;
}

bool gpu_share_take_by_rank(struct task_gpu_set *set)
{
    uint32_t gpu = set->by_rank - 1;
    if (gpu >= TASK_GPUS_MAX)
        return false;
    *set = (struct task_gpu_set){ .state = TASK_GPUS_BY_RANK };
    set->bits[gpu / 64] = UINT64_C(1) << gpu % 64;
    return true;
}
