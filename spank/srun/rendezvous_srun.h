/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_RENDEZVOUS_SRUN_H
#define SPANK_SRUN_RENDEZVOUS_SRUN_H

#include <slurm/spank.h>
#include <stdbool.h>

#include "spank/srun/srun_context.h"

/* srun's part in the rendezvous (spank/rendezvous/wire.h): these functions connect the hooks with
 * it. No function fails: without a rendezvous each node prints its own report. */

/* In init_post_opt, once for each component of a heterogeneous job: decides by context->options
 * whether there may be a rendezvous, which root never has, and if so sets context->rendezvous,
 * which rendezvous_srun_end() frees; without memory it stays NULL. With the second component it
 * opens the listener, because later is too late for its nodes. Removes the token of an outer srun
 * from the environment. */
void rendezvous_srun_prepare(struct srun_context *context);

/* In local_user_init, when the step is known: opens the listener, puts its token into the
 * environment that the nodes get, and starts the thread that serves the nodes. It does nothing
 * without context->rendezvous, or if this step needs none. It uses context->profile, which must
 * stay valid until rendezvous_srun_end(). Slurm does not call this hook for srun --async. */
void rendezvous_srun_start(struct srun_context *context, spank_t spank);

/* Returns true if a rendezvous can bring the nodes a hints file that is too large for the
 * environment: the options ask for a rendezvous, and the user is not root. It uses context->options
 * only, so it may be called before rendezvous_srun_prepare(). */
bool rendezvous_srun_carries_hints(const struct srun_context *context);

/* When the step is over: ends the thread without waiting for the nodes, closes the listener, frees
 * context->rendezvous, which may be NULL, and sets it to NULL. */
void rendezvous_srun_end(struct srun_context *context);

#endif
