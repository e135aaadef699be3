/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_GPU_NEAR_H
#define NUIOA_PLAN_GPU_NEAR_H

#include "plan/rail.h"

/* How near CPUs are to the GPUs of a rank, and whether CPUs follow GPUs (option `gpus`). Private to
 * the library. */

/* Returns why no rank of a step with GPUs may move, unless force was said; or NUIOA_REASON_COUNT if
 * ranks may move, because each of them has the GPUs that the request tells. */
enum nuioa_reason nuioa_gpus_forbid(const struct nuioa_request *request);

/* Returns true if CPUs are to follow GPUs: some rank has a GPU, and nothing forbids that ranks move
 * to theirs. With force this is so too, where it is possible. */
bool nuioa_gpus_followed(const struct nuioa_request *request);

/* Returns the level of `cpus` (OS indexes) from the GPUs of a task: that of their farthest NUMA
 * node from the farthest GPU; 0 if the task has no GPU. A level is a group of NUMA nodes that are
 * about equally far from the GPU, as in plan/assignment.h for a NIC. Returns NUIOA_NO_LEVEL if the
 * NUMA node of a GPU is unknown. */
uint32_t nuioa_gpu_level(const struct nuioa_node *node, const struct nuioa_task *task,
                         hwloc_const_bitmap_t cpus);

/* Returns the level (plan/assignment.h) of `cpus` (OS indexes) from the NIC that a task is told:
 * the nearest to its GPU by PCIe path, and of several GPUs the farthest such NIC. A task without
 * GPUs has that of nuioa_rails_nearest. NUIOA_NO_LEVEL if there is no rail or the rails are not
 * located. */
uint32_t nuioa_gpu_nic_level(const struct nuioa_rails *rails, const struct nuioa_node *node,
                             const struct nuioa_task *task, hwloc_const_bitmap_t cpus);

#endif
