/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_GPU_SLOTS_H
#define NUIOA_SLOTS_GPU_SLOTS_H

#include "slots/basis.h"
#include "slots/slot.h"

/* CPUs follow GPUs: ranks get slots as near to their GPUs as possible. Private to the library. */

/* Gives every task a slot, and writes it to slot_of[task_count]; slot i is where task i is now, and
 * further slots are free (slots/free_cores.h). No task is farther from its GPUs (nuioa_gpu_level)
 * than on the CPUs that Slurm gave it. Of a slot that several tasks share, each is taken to have an
 * equal part. Among all mappings for which that is true, and in which a task gets a free slot or
 * one of the kind of its own, the result has the lowest level of the farthest task; then the least
 * sum of levels; then, without pairs, the least sum of weights times prices of reaching the NIC;
 * then the fewest tasks that leave their NUMA nodes. Of parts of one mask lower ranks get those
 * with the lower tie (below), where all that is equal.
 *
 * Changes `slots`, which are priced and at least as many as the tasks, so that nuioa_map can go on
 * from there: tasks may exchange slots of one kind, and that is as good for the GPUs; nic_cost is
 * the price for these tasks; and tie is lower for slots nearer to their GPUs, then for those with
 * a lower tie before, then for larger ones.
 *
 * Returns 0; -ETIME past request->cpu_until_us; or -ENOMEM. After an error slot_of, and kinds,
 * prices and ties of `slots`, are undefined. */
int nuioa_gpu_follow(const struct nuioa_basis *basis, struct nuioa_slots *slots, uint32_t *slot_of);

/* Returns true if a task would lose its CPUs nearest to its GPUs for ones that are as far as the
 * farthest that it has now: it has none of the near ones in its slot, and not even a lower level.
 */
bool nuioa_gpu_follow_takes(const struct nuioa_basis *basis, const struct nuioa_slots *slots,
                            const uint32_t *slot_of);

/* For the only task of a node: makes one slot, priced, as near to its GPUs as possible. If the task
 * has all CPUs of the step, it is of request->cpus_typed of these; else it is as large as the one
 * that Slurm made (`own`, priced), of CPUs that are nearer: its own and free cores
 * (slots/free_cores.h). *slots is overwritten. Returns 0; -ENOSPC if there is no such slot other
 * than `own`; or -ENOMEM. */
int nuioa_gpu_follow_alone(const struct nuioa_basis *basis, const struct nuioa_slots *own,
                           struct nuioa_slots *slots);

#endif
