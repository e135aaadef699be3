/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_FLOWS_H
#define SPANK_STEPD_FLOWS_H

#include <slurm/spank.h>

#include "spank/stepd/step_run.h"

/* The flows of a hints file, which a child of slurmstepd reads as the job's user, on this node. The
 * list of weights that srun has made of the same file counts where the child has nothing: the node
 * may not see the file, or see another one. */

/* A launch waits for the child for so long at most, from its start in init_post_opt. 10,000 ranks
 * with 26 partners each, 8 MB, take 80 ms, and a file server some more; what takes longer is not
 * worth the wait, because the list says nearly the same. */
#define FLOWS_MS 500

/* In init_post_opt: if the step is to be placed and srun has named a file, starts the child. Root's
 * jobs have none, and take the list. Sets context->flows, or leaves it NULL. */
void flows_begin(struct step_run *context, spank_t spank);

/* Before the plan: waits for the child and sets context->profile; or says why the list counts: on
 * the step's first node it is a fault, on others a line in slurmd.log. Ends the child, or kills it
 * where another process has started it. Without a child it does nothing. */
void flows_take(struct step_run *context);

/* In slurmstepd itself: ends the child, and frees context->flows and context->profile. */
void flows_end(struct step_run *context);

#endif
