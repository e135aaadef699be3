/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_TASK_GPUS_H
#define SPANK_STEPD_TASK_GPUS_H

#include <stdint.h>

#include "ranks/request.h"
#include "spank/stepd/step_run.h"
#include "topology/gpu_count.h"

/* In slurmstepd: which GPUs each task of the step has. The kernel may know it before the tasks run,
 * else each task tells it. Nobody asks in a step without GPUs. */

/* In init_post_opt, when step and node are read: sets context->gpus, all open. It stays NULL unless
 * the step is known to have GPUs, and if the node describes none or more than TASK_GPUS_MAX.
 * Returns 0 or -ENOMEM. */
int task_gpus_prepare(struct step_run *context);

/* Frees context->gpus and sets it to NULL. */
void task_gpus_free(struct step_run *context);

/* Returns true if a task may have GPUs. `given` is what nuioa_gpus_given() says of its environment.
 * If that is NUIOA_GPUS_UNKNOWN, the answer is true if the step or the node has any GPU. A task may
 * call it, too. */
bool task_gpus_are_possible(const struct step_run *context, enum nuioa_gpus given);

/* When all tasks exist and none runs: finds the GPUs that each task may use, by its cgroup, and
 * writes them to context->gpus. They stay open if Slurm does not constrain the devices of each
 * vendor with cgroups of version 2, or if anything goes wrong; those of a task that may use
 * several, one of which another task may use, too, stay open, because only their variables may
 * divide these. Each of these is logged, at level debug. It waits for at most twice
 * deadline_ms and a second. */
void task_gpus_ask(struct step_run *context);

/* Returns true if the GPUs of all tasks are known, also if the step has none. */
bool task_gpus_known(const struct step_run *context);

/* Returns true if the GPUs of the task with local rank `local` are not known yet. The task then
 * finds its NICs by itself. */
bool task_gpus_open(const struct step_run *context, uint32_t local);

/* Returns the numbers of these tasks. */
struct task_gpus_counts {
    uint32_t lost;    /* nobody will ever know which GPUs they have */
    uint32_t shared;  /* of these, tasks that see the same GPUs as others */
    uint32_t by_rank; /* they have a GPU by gpus=local-rank only */
};
struct task_gpus_counts task_gpus_count(const struct step_run *context);

/* When the tasks run: waits until each has told its GPUs (spank/task/own_gpus.h), for at most
 * deadline_ms, and writes to context->gpus those that were open. Of what a task sees, it has what
 * is its own (spank/stepd/gpu_share.h), or else the GPU that gpus=local-rank means; else it is
 * shared. It does not wait any longer when a task has ended. Returns true if all tasks have told
 * and live. Then none of them has called exec, if the task memory is closed. A task's GPUs that are
 * told and make no sense are unknown. */
bool task_gpus_await(struct step_run *context);

/* Sets gpus, gpu_count, gpus_known, seen, seen_count and gpus_shared of tasks[step.task_count].
 * `indexes` is the caller's array for them, with room for step.task_count * node.gpu_count; the
 * tasks point into it. */
void task_gpus_list(const struct step_run *context, struct nuioa_task *tasks, uint32_t *indexes);

#endif
