/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_NICS_GPU_DISTANCE_H
#define NUIOA_NICS_GPU_DISTANCE_H

#include "nics/rails.h"
#include "ranks/reason.h"
#include "ranks/request.h"

/* How near CPUs are to the GPUs of a rank, and whether CPUs follow GPUs (option `gpus`). Private to
 * the library. */

/* Returns why no rank of a step with GPUs may move, unless force was said; or NUIOA_REASON_NONE if
 * ranks may move, because each of them has the GPUs that the request tells. */
enum nuioa_reason nuioa_gpus_forbid(const struct nuioa_request *request);

/* Returns true if CPUs are to follow GPUs: some rank has a GPU, and nothing forbids that ranks move
 * to theirs. With force this is so too, where it is possible. */
bool nuioa_gpus_followed(const struct nuioa_request *request);

/* Returns the level of `cpus` (OS indexes) from the GPUs of a task: that of their farthest NUMA
 * node from the farthest GPU; 0 if the task has no GPU. A level is a group of NUMA nodes that are
 * about equally far from the GPU, as in ranks/assignment.h for a NIC. Returns NUIOA_NO_LEVEL if the
 * NUMA node of a GPU is unknown. */
uint32_t nuioa_gpu_level(const struct nuioa_node *node, const struct nuioa_task *task,
                         hwloc_const_bitmap_t cpus);

/* Returns the level of that NUMA node of `cpus` (OS indexes; NULL: of all that have CPUs) which is
 * nearest to the GPUs of a task; NUIOA_NO_LEVEL as above. CPUs with a higher level than that of
 * NULL are not beside the GPUs: others are nearer. */
uint32_t nuioa_gpu_nearest(const struct nuioa_node *node, const struct nuioa_task *task,
                           hwloc_const_bitmap_t cpus);

/* Sets `near`, the caller's bitmap, to those of `cpus` (OS indexes) in NUMA nodes that are at most
 * at this level from the GPUs of a task. Returns 0 or -ENOMEM. */
int nuioa_gpu_near(const struct nuioa_node *node, const struct nuioa_task *task,
                   hwloc_const_bitmap_t cpus, uint32_t level, hwloc_bitmap_t near);

/* Returns the level (ranks/assignment.h) of `cpus` (OS indexes) from the NIC that a task is told:
 * the nearest to its GPU by PCIe path, and of several GPUs the farthest such NIC. A task without
 * GPUs has that of nuioa_rails_nearest. NUIOA_NO_LEVEL if there is no rail or the rails are not
 * located. */
uint32_t nuioa_gpu_nic_level(const struct nuioa_rails *rails, const struct nuioa_task *task,
                             hwloc_const_bitmap_t cpus);

/* Returns the price (nuioa_rail_price) of the same NIC, and of several GPUs the highest. */
double nuioa_gpu_nic_price(const struct nuioa_rails *rails, const struct nuioa_task *task,
                           hwloc_const_bitmap_t cpus);

/* Returns a number that is lower for a rail that is nearer to a GPU (an index into node->gpus): by
 * PCIe path, or where that is unknown by the GPU's CPUs, or those of its rank, `cpus` (OS indexes
 * or NULL), if the GPU has none. Of equally near rails it is lower for one that is not doubted
 * (topology/nic_guess.h). It means nothing but in comparisons. */
uint32_t nuioa_gpu_rail_distance(const struct nuioa_rails *rails, uint32_t gpu,
                                 hwloc_const_bitmap_t cpus, unsigned rail);

/* Sets near[rail], for each rail, to true if it is nearest to one of gpus[count] (indexes into
 * node->gpus), as nuioa_gpu_rail_distance says. The caller allocates near[rails->count]. */
void nuioa_gpus_near_rails(const struct nuioa_rails *rails, const uint32_t *gpus, uint32_t count,
                           hwloc_const_bitmap_t cpus, bool *near);

/* Chooses up to `count` GPUs of a task, those that are to get a rail each: the first one, and then
 * always the GPU that is farthest from the rails of those before it, where a GPU to which one of
 * these is as near as any rail needs none. Writes them, as indexes into node->gpus, to
 * picked[task->gpu_count], which the caller allocated: all GPUs in their order if `count` is not
 * below their number. Returns how many they are. `cpus` are those of the task. */
uint32_t nuioa_gpus_pick(const struct nuioa_rails *rails, const struct nuioa_task *task,
                         hwloc_const_bitmap_t cpus, uint32_t count, uint32_t *picked);

#endif
