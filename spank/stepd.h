/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_H
#define SPANK_STEPD_H

#include <slurm/spank.h>
#include <stdint.h>

#include "spank/stepd_context.h"

/* The hooks in slurmstepd, in the order in which Slurm calls them. None fails, because none may
 * prevent a launch: what goes wrong becomes a fault of the context, which is printed once, and the
 * job runs as Slurm made it. */

/* Before PMIx starts and before the job's stderr is connected: reads options, step and node, and
 * calls srun. argc and argv are those of plugstack.conf. */
void stepd_init_post_opt(struct stepd_context *context, spank_t spank, int argc, char **argv);

/* The job's stderr is connected; no task is forked: opens the connection to PMIx. If this node
 * will have no plan, it prints why. */
void stepd_user_init(struct stepd_context *context, spank_t spank);

/* Called for each task after it is forked and before any task runs: with the last one it makes the
 * plan, binds the tasks and writes their variables into the task memory. */
void stepd_task_post_fork(struct stepd_context *context, spank_t spank);

/* In the task, as the user: sets its variables and its memory policy. Returns where the time spent
 * in this hook is to be written, in microseconds; NULL: nowhere. */
uint32_t *stepd_task_init(struct stepd_context *context, spank_t spank);

/* All tasks have ended: frees what the context holds. */
void stepd_exit(struct stepd_context *context);

#endif
