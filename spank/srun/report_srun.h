/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_REPORT_SRUN_H
#define SPANK_SRUN_REPORT_SRUN_H

#include <slurm/spank.h>

#include "spank/srun/srun_context.h"

/* srun's part in the report of a step (spank/report/wire.h): these functions connect the hooks with
 * it. No function fails: without it nodes print their own reports. */

/* In init_post_opt, once for each component of a heterogeneous job: decides by context->options
 * whether there is a report, and if so sets context->report, which report_srun_end() frees; without
 * memory it stays NULL. With the second component it opens the port, because later is too late for
 * its nodes. Removes the port of an outer srun from the environment. */
void report_srun_prepare(struct srun_context *context);

/* In local_user_init, when the step is known: opens the port, tells the nodes, and starts the child
 * that collects their records. It does nothing without context->report. Slurm does not call this
 * hook for srun --async. */
void report_srun_start(struct srun_context *context, spank_t spank);

/* When the step is over: lets the child print, for a second at most, frees context->report, which
 * may be NULL, and sets it to NULL. */
void report_srun_end(struct srun_context *context);

#endif
