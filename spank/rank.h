/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RANK_H
#define SPANK_RANK_H

#include "plan/plan.h"
#include "spank/stepd_context.h"

/* The memory policy and the environment of each rank: slurmstepd writes them into the task memory,
 * and the task takes them from there. */

/* In slurmstepd, in init_post_opt: removes NUIOA_* variables that an outer step left. They would be
 * wrong in this step: ranks would wait for a leader that leads another step. */
void rank_unset_outer(spank_t spank);

/* In slurmstepd: writes each task's part of the plan into the task memory. If a part does not fit,
 * a warning is added to context->faults. */
void rank_prepare(struct stepd_context *context, const struct nuioa_plan *plan);

/* In slurmstepd: writes the leaders of all nodes, by node, into the task memory. `count` is 0 if
 * they are not known. */
void rank_prepare_job(struct stepd_context *context, const uint32_t *leaders, uint32_t count);

/* Returns true if a task may have several GPUs. `given` is how many its environment gives it. If
 * that is not known, the answer is true if the step or the node has any GPU. */
bool rank_may_have_several_gpus(const struct stepd_context *context, enum nuioa_gpus given);

/* Returns true if a task may have any GPU: `given` says that it has, or the step has GPUs. If
 * `given` is not known, the answer is also true if the node has GPUs. */
bool rank_may_have_gpus(const struct stepd_context *context, enum nuioa_gpus given);

/* In the task, as the user: sets its memory policy and its variables from its part of the task
 * memory, before or after task_memory_open(). It does nothing if slurmstepd has not written this
 * part. */
void rank_enter(const struct stepd_context *context, uint32_t local, spank_t spank);

/* In the task, as the user, after task_memory_open(): sets the variable with the leaders of all
 * nodes, if they are known. */
void rank_enter_job(const struct task_memory *task_memory, uint32_t local, spank_t spank);

#endif
