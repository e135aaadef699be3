/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RANK_H
#define SPANK_RANK_H

#include "plan/plan.h"
#include "spank/stepd_context.h"

/* What one rank is given: a memory policy and its environment. */

/* In slurmstepd, early: drops NUIOA_* variables that an outer step left. They are said anew, or
 * they are wrong: a leader that leads another step would be waited for. */
void rank_forget(spank_t spank);

/* In slurmstepd: writes the plan into the task memory for all tasks; and the leaders of all nodes,
 * 0 if unknown. */
void rank_prepare(struct stepd_context *context, const struct nuioa_plan *plan);
void rank_prepare_job(struct stepd_context *context, const uint32_t *leaders, uint32_t count);

/* Whether a task that was given so many GPUs may have several; where that is not known it may, on a
 * node with GPUs. */
bool rank_may_have_several_gpus(const struct stepd_context *context, enum nuioa_gpus given);

/* Whether it may have any: it was given some, or nothing says how many, on a node with GPUs. */
bool rank_may_have_gpus(const struct stepd_context *context, enum nuioa_gpus given);

/* In the task, as the user: takes over what the task memory holds for it, open or closed; then, of
 * an open task memory, what waited for other nodes. */
void rank_enter(const struct stepd_context *context, uint32_t local, spank_t spank);
void rank_enter_job(const struct task_memory *task_memory, uint32_t local, spank_t spank);

#endif
