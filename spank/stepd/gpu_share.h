/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_GPU_SHARE_H
#define SPANK_STEPD_GPU_SHARE_H

#include "spank/stepd/task_memory.h"

/* Which of the GPUs that tasks see are a task's own: a GPU that a task may see is not one that it
 * has. A task that sees one GPU has it, whoever else does. If it sees several, and another task of
 * the node may see one of them, nobody knows which task uses which. */

/* The GPUs that two tasks may see. */
struct gpu_share {
    uint64_t twice[4]; /* as in struct task_gpu_set */
    uint32_t count;    /* number of tasks */
};

/* Returns what these tasks may see twice: sets[count], of which those that are open, or unknown and
 * without bits, may be any GPUs. */
struct gpu_share gpu_share_find(const struct task_gpu_set *sets, uint32_t count);

/* Returns true if a task that sees exactly these GPUs has all of them. */
bool gpu_share_is_own(const struct gpu_share *share, const struct task_gpu_set *set);

/* Leaves only the GPU that gpus=local-rank means (set->by_rank) in the set of a task that does not
 * have all that it sees. A set without one stays as it is. Returns true if it is one GPU now. */
bool gpu_share_take_by_rank(struct task_gpu_set *set);

/* Returns how many GPUs are in the set. */
uint32_t gpu_share_count(const struct task_gpu_set *set);

#endif
