/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_TASK_GPU_NICS_LOOKUP_H
#define SPANK_TASK_GPU_NICS_LOOKUP_H

#include "plan/plan.h"
#include "spank/stepd/step_run.h"

/* In the task: the NICs of its GPUs, looked up in the table that slurmstepd has written
 * (spank/stepd/gpu_table.h). Nobody waits for it. */

/* Sets nics, nic_count, nic, gpus, gpu_count and level of *assignment, the rest of which is zeros,
 * to those of a task with these GPUs, and CPUs in the list `cpus`, which is NULL if they are
 * unknown. Returns false, and sets nothing, if there is no table, or if it has no NIC for these
 * GPUs. The caller frees assignment->nics and assignment->gpus with free(). */
bool gpu_nics_look_up(const struct step_run *context, const struct task_gpu_set *gpus,
                      const char *cpus, struct nuioa_assignment *assignment);

/* As gpu_nics_look_up(), for a task that has some of these GPUs, and nobody knows which: one NIC
 * that is near to one of them. Of those it is the nearest to `cpus`; tasks to which several are
 * equally near share them by the order of their cores, or by their local rank, `local`, where that
 * is unknown. The assignment has no GPUs; the caller still frees both arrays. */
bool gpu_nics_look_up_one(const struct step_run *context, const struct task_gpu_set *gpus,
                          const char *cpus, uint32_t local, struct nuioa_assignment *assignment);

/* Writes the nearest NICs of each GPU of the set, in the form of ranks/assignment.h, to `text`,
 * an array of `size` bytes. Returns false if there are none, or if they do not fit; `text` is then
 * undefined. */
bool gpu_nics_text(const struct step_run *context, const struct task_gpu_set *gpus, char *text,
                   size_t size);

#endif
