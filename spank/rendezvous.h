/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_H
#define SPANK_RENDEZVOUS_H

#include "spank/context.h"
#include "spank/placement.h"

/* What srun and slurmstepd have to do with the rendezvous (wire.h), and when. Nothing here fails:
 * without a rendezvous each node knows its own leader and tells its own report. */

/* srun, init_post_opt (which comes once for each component of a heterogeneous job) and, when the
 * step is known, local_user_init, which srun --async does not call. */
void rendezvous_offer(struct srun_context *context);
void rendezvous_start(struct srun_context *context, spank_t spank);

/* Whether a hints file too large for a list can reach the nodes. */
bool rendezvous_brings_hints(const struct srun_context *context);

/* slurmstepd, init_post_opt: calls srun, which hides behind the start of PMIx. Also for a node that
 * stands down, lest the others wait for it. */
void rendezvous_call(struct stepd_context *context, spank_t spank);

/* slurmstepd, before the plan: waits for what the hints file says of this node, which replaces
 * the list that travelled with the options. */
void rendezvous_hints(struct stepd_context *context);

/* slurmstepd, when the plan is carried out: tells srun what there is to say; it takes over the
 * warnings so far, which leave context->faults. `placement` NULL: this node stands down. Then, with
 * as much in between as there is to do: waits for all others; if they do not come the warnings are
 * back. */
void rendezvous_tell(struct stepd_context *context, const struct placement *placement);
void rendezvous_await(struct stepd_context *context);

/* For a thread that waits, from another one: the step is over. */
void rendezvous_wait_no_more(struct stepd_context *context);

/* Whether others have to be waited for. */
bool rendezvous_is_waiting(const struct stepd_context *context);

/* After that: the leaders of all nodes, and how many; NULL and 0: not known. */
const uint32_t *rendezvous_leaders(const struct stepd_context *context, uint32_t *count);

/* Whether srun tells the report. */
bool rendezvous_is_reported(const struct stepd_context *context);

/* At the end of srun, and of slurmstepd. */
void rendezvous_end_srun(struct srun_context *context);
void rendezvous_end(struct stepd_context *context);

#endif
