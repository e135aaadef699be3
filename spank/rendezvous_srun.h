/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_SRUN_H
#define SPANK_RENDEZVOUS_SRUN_H

#include <slurm/spank.h>
#include <stdbool.h>

#include "spank/srun_context.h"

/* srun's part in the rendezvous (spank/rendezvous/wire.h): these functions connect the hooks with
 * it. No function fails: without a rendezvous each node knows only its own leader and prints its
 * own report. */

/* In init_post_opt, once for each component of a heterogeneous job: decides whether the options may
 * need a rendezvous. Sets context->rendezvous. */
void rendezvous_srun_prepare(struct srun_context *context);

/* In local_user_init, when the step is known: listens and starts the thread that serves the nodes.
 * Slurm does not call this hook for srun --async. */
void rendezvous_srun_start(struct srun_context *context, spank_t spank);

/* Returns true if a rendezvous can bring the nodes a hints file that is too large for the
 * environment: the options want one, and the user is not root. It needs only context->options. */
bool rendezvous_srun_carries_hints(const struct srun_context *context);

/* Ends the thread and frees context->rendezvous, which may be NULL. */
void rendezvous_srun_end(struct srun_context *context);

#endif
