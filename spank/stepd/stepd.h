/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_STEPD_H
#define SPANK_STEPD_STEPD_H

#include <slurm/spank.h>
#include <stdint.h>

#include "spank/stepd/step_run.h"

/* The hooks in slurmstepd, in the order in which Slurm calls them. None fails, because none may
 * prevent a launch: what goes wrong becomes a fault of the run, which is printed once, or a
 * line of slurmd.log, and the job runs as Slurm made it. */

/* The hook init_post_opt, before PMIx starts and before the job's stderr is connected: reads
 * options, step and node into *facts, to which run->facts points from then on, and starts the
 * children that work as the user. Removes from the ranks' environment what srun has put there for
 * the nodes, and what an outer step was told. argv[argc] are the plugin's arguments in
 * plugstack.conf. The caller has set both structs to zeros, except run->flags. */
void stepd_init_post_opt(struct step_run *run, struct step_facts *facts, spank_t spank, int argc,
                         char **argv);

/* The hook user_init, when the job's stderr is connected and no task is forked: opens the
 * connection to PMIx. If this node will have no plan, it tells the user why. */
void stepd_user_init(struct step_run *run, spank_t spank);

/* The hook task_post_fork, called for each task after it is forked and before any task runs: with
 * the last one it makes the plan, binds the tasks and writes their variables into the task memory.
 * Where only the tasks know which GPUs they have, a thread does that when they have told. */
void stepd_task_post_fork(struct step_run *run, spank_t spank);

/* The hook task_exit, called for each task that has ended: with the last one it lets the report of
 * this node be finished, for at most half a second. */
void stepd_task_exit(struct step_run *run);

/* The hook exit, when all tasks have ended: ends the thread, logs the times spent in the hooks and
 * frees what both hold, not the structs and not run->flags. */
void stepd_exit(struct step_run *run, struct step_facts *facts);

#endif
