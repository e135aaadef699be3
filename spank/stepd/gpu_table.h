/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_GPU_TABLE_H
#define SPANK_STEPD_GPU_TABLE_H

#include "plan/plan.h"
#include "plan/request.h"
#include "spank/stepd/stepd_context.h"

/* The NICs of each GPU, for tasks whose GPUs slurmstepd does not know when it makes the plan. They
 * look up their own in the table, and wait for nobody. */

/* In slurmstepd, before the tasks may read it: writes the table, if the GPUs of a task are open.
 * It holds the NICs that each GPU would get if each had a rank of its own. `request` is that of the
 * step's plan. If there is no memory, there is no table. */
void gpu_table_write(struct stepd_context *context, const struct nuioa_request *request);

/* In the task: sets nics, nic_count, nic, gpus, gpu_count and level of *assignment, the rest of
 * which is zeros, to those of a task with these GPUs, and CPUs in the list `cpus`, which is NULL if
 * they are unknown. Returns false, and sets nothing, if there is no table, or if it has no NIC for
 * these GPUs. The caller frees
 * assignment->nics and assignment->gpus with free(). */
bool gpu_table_look_up(const struct stepd_context *context, const struct task_gpu_set *gpus,
                       const char *cpus, struct nuioa_assignment *assignment);

/* In the task: as gpu_table_look_up(), for a task that has some of these GPUs, and nobody knows
 * which: one NIC that is near to one of them. Of those it is the nearest to `cpus`; tasks to which
 * several are equally near share them by their local rank, `local`. There are no GPUs. */
bool gpu_table_look_up_one(const struct stepd_context *context, const struct task_gpu_set *gpus,
                           const char *cpus, uint32_t local, struct nuioa_assignment *assignment);

#endif
