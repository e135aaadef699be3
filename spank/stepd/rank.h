/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_RANK_H
#define SPANK_STEPD_RANK_H

#include "plan/plan.h"
#include "spank/stepd/stepd_context.h"

/* The memory policy and the environment of each rank: slurmstepd writes them into the task memory,
 * and the task takes them from there. `local` is the local rank of a task, from 0. */

/* In slurmstepd, in init_post_opt: removes from the job's environment the NUIOA_* variables that an
 * outer step left. They would be wrong in this step: ranks would wait for a leader that leads
 * another step. */
void rank_unset_outer(spank_t spank);

/* In slurmstepd, after the plan is carried out and before any task runs: writes each task's memory
 * policy and variables into context->task_memory. If a task's variables do not fit, it gets none,
 * and a warning is added to context->faults. */
void rank_prepare(struct stepd_context *context, const struct nuioa_plan *plan);

/* In slurmstepd, before the task memory is opened: writes leaders[count], the global ranks of the
 * leaders of all nodes in the order of the step's nodes, into context->task_memory, which must not
 * be NULL. `count` is 0 if they are not known. A list that is too long for the memory is left out,
 * without a warning. */
void rank_prepare_job(struct stepd_context *context, const uint32_t *leaders, uint32_t count);

/* Returns true if a task may have GPUs. `given` is what nuioa_gpus_given() says of its environment.
 * If that is NUIOA_GPUS_UNKNOWN, the answer is true if the step or the node has any GPU. */
bool rank_may_have_gpus(const struct stepd_context *context, enum nuioa_gpus given);

/* In the task, as the user: finds which GPUs the task has, and tells slurmstepd. It does nothing in
 * a step without GPUs, or if slurmstepd has written this task's part and knows its GPUs. */
void rank_tell(const struct stepd_context *context, uint32_t local, spank_t spank);

/* In the task, as the user: sets its memory policy and its variables from its part of
 * context->task_memory, whether the memory is open or not. Variables of other programs that the
 * user has set stay as they are. If the plan was made without the task's GPUs, and
 * rank_tell() has found them, the variables for the NICs are those of the table
 * (spank/stepd/gpu_table.h). It does nothing if slurmstepd has not written this part. What cannot
 * be set is left as it was. */
void rank_enter(const struct stepd_context *context, uint32_t local, spank_t spank);

/* In the task, as the user, when task_memory_wait() has returned true: sets NUIOA_LEADERS, the list
 * of the leaders of all nodes, if it is known. */
void rank_enter_job(const struct task_memory *task_memory, uint32_t local, spank_t spank);

#endif
