/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_COMPLETION_H
#define SPANK_STEPD_COMPLETION_H

#include "spank/stepd/stepd_context.h"

/* What is done when all tasks of the step exist on this node: the plan, and all that follows from
 * it. A thread may do a part of it, while Slurm goes on and the tasks wait. */

/* In task_post_fork of the last task, before any task runs: makes the plan, binds the tasks, sends
 * the record, publishes, writes the task memory, prints. What needs srun's answer, or what the
 * tasks tell of their GPUs, is done by a thread; the tasks then wait for the task memory. It cannot
 * fail: what goes wrong is a fault, and the tasks run as Slurm bound them. */
void completion_begin(struct stepd_context *context);

/* When all tasks have ended: ends the thread, which stops waiting for others, and frees
 * context->completion. Without one it does nothing. */
void completion_end(struct stepd_context *context);

#endif
