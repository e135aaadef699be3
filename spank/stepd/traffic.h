/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_TRAFFIC_H
#define SPANK_STEPD_TRAFFIC_H

#include <slurm/spank.h>

#include "spank/stepd/placement.h"
#include "spank/stepd/stepd_context.h"

/* What the NICs of this node carry during the step, for the table that srun prints after it. Only a
 * report that the user has asked for has one; else context->traffic stays NULL, and nothing is
 * opened or read.
 *
 * A file of sysfs can hang where hardware is broken. So a child process without privileges holds
 * the counters open, reads them twice, and writes what it has read to a pipe. The launch and the
 * end of the step wait for it a short time, and then do without. */

/* In init_post_opt, when the node is read and before srun is called: sets context->traffic, which
 * traffic_close() frees, and starts the child, if the user has asked for a report and the NICs of
 * this node can be counted. Without memory or processes there is no table. */
void traffic_open(struct stepd_context *context, spank_t spank);

/* When all tasks exist and none runs: asks the child for the first reading. */
void traffic_begin(struct stepd_context *context);

/* When the plan is made and carried out: notes what it means the NICs to carry. */
void traffic_plan(struct stepd_context *context, const struct placement *placement);

/* Before the tasks run: waits for the first reading, which has mostly come meanwhile. It ends when
 * nothing has come for TRAFFIC_WAIT_MS, which is what a file that hangs costs, and TRAFFIC_MAX_MS
 * after traffic_begin() at the latest. */
#define TRAFFIC_WAIT_MS 50
#define TRAFFIC_MAX_MS 500
void traffic_await(struct stepd_context *context);

/* In task_exit: with the last task of the step on this node, takes the second reading, waits for it
 * as long, and sends srun the difference. For others it only counts them. */
void traffic_task_ended(struct stepd_context *context);

/* When the step is over: ends the child, and frees context->traffic, which may be NULL. */
void traffic_close(struct stepd_context *context);

#endif
