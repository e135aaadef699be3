/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_LAUNCH_H
#define SPANK_STEPD_LAUNCH_H

#include "spank/stepd/step_run.h"

/* What is done when all tasks of the step exist on this node: the plan, and all that follows from
 * it. A thread may do a part of it, while Slurm goes on and the tasks wait. */

/* In task_post_fork of the last task, before any task runs: makes the plan, binds the tasks, sends
 * the record, publishes, writes the task memory, prints. Where the plan needs what the tasks tell
 * of their GPUs, a thread does all this after the function has returned, and the tasks wait for the
 * task memory. Under contain_spank there is no thread. It cannot fail: what goes wrong is a fault,
 * and the tasks run as Slurm bound them. */
void launch_begin(struct step_run *context);

/* When all tasks have ended: waits for the end of the thread, which waits for no task that has
 * ended, and frees context->launch. Without one it does nothing. */
void launch_end(struct step_run *context);

#endif
