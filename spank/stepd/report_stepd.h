/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_REPORT_STEPD_H
#define SPANK_STEPD_REPORT_STEPD_H

#include "spank/stepd/placement.h"
#include "spank/stepd/step_run.h"

/* This node tells the user what it did: by srun, if a report was requested (spank/report/wire.h),
 * else by itself. No function fails. Only the last two wait for the child. */

/* In init_post_opt, if a report was requested: sets context->report, which report_stepd_end() frees
 * and which stays NULL without memory. If srun has opened its port, starts the child that will send
 * the record of this node. Root's jobs have no child. */
void report_stepd_begin(struct step_run *context, spank_t spank);

/* When all is done that the report is about: gives the child the record, with the context's faults,
 * and what it prints if srun does not take it. Where there is no child, prints both itself, and
 * gives up if the reader of stderr reads nothing for half a second. `placement` is NULL if this
 * node has no plan. Then the context has no faults any more. */
void report_stepd_tell(struct step_run *context, const struct placement *placement);

/* In task_exit. With the node's last task it waits until the child no longer needs the job's
 * stderr, 500 ms at most, and ends it: Slurm waits for both. What the child has not printed by
 * then, this node prints. */
void report_stepd_task_exit(struct step_run *context);

/* Ends the child, and frees context->report. Where not all tasks have ended by then, because the
 * step could not start, it waits as report_stepd_task_exit() does. */
void report_stepd_end(struct step_run *context);

#endif
