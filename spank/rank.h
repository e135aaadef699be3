/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RANK_H
#define SPANK_RANK_H

#include "plan/plan.h"
#include "spank/stepd_context.h"

/* The memory policy and the environment of each rank: slurmstepd writes them into the task memory,
 * the task takes them from there. */

/* In slurmstepd, in init_post_opt: removes NUIOA_* variables that an outer step left. They would be
 * wrong in this step: ranks would wait for a leader that leads another step. */
void rank_unset_outer(spank_t spank);

/* In slurmstepd: writes each task's part of the plan into the task memory. A part that does not fit
 * becomes a fault of the context. */
void rank_prepare(struct stepd_context *context, const struct nuioa_plan *plan);

/* In slurmstepd: writes the leaders of all nodes, by node, into the task memory. `count` is 0 if
 * they are not known. */
void rank_prepare_job(struct stepd_context *context, const uint32_t *leaders, uint32_t count);

/* Whether a task may have several GPUs. If `given` does not say how many it has, it may on a node
 * with GPUs. */
bool rank_may_have_several_gpus(const struct stepd_context *context, enum nuioa_gpus given);

/* Whether a task may have any GPU. If `given` does not say how many it has, it may on a node with
 * GPUs. */
bool rank_may_have_gpus(const struct stepd_context *context, enum nuioa_gpus given);

/* In the task, as the user: sets its memory policy and its variables from its part of the task
 * memory, which may be open or closed. */
void rank_enter(const struct stepd_context *context, uint32_t local, spank_t spank);

/* In the task, as the user, when the task memory is open: sets the variable with the leaders of all
 * nodes. */
void rank_enter_job(const struct task_memory *task_memory, uint32_t local, spank_t spank);

#endif
