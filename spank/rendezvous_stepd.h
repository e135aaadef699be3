/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_STEPD_H
#define SPANK_RENDEZVOUS_STEPD_H

#include "spank/placement.h"
#include "spank/stepd_context.h"

/* slurmstepd's part in the rendezvous (spank/rendezvous/wire.h): these functions connect the hooks
 * with it. No function fails: without a rendezvous this node knows only its own leader and prints
 * its own report. All functions accept a context whose `rendezvous` is NULL. One thread calls them,
 * except rendezvous_stepd_stop_waiting(). */

/* In init_post_opt, because the call then overlaps with the start of PMIx: connects to srun, if
 * this step needs a rendezvous. A node without a plan calls too, so that the others need not wait
 * for it. Sets context->rendezvous. */
void rendezvous_stepd_call(struct stepd_context *context, spank_t spank);

/* Before the plan: waits for what the hints file says about this node's ranks, if the options name
 * a file. Sets context->weights, pairs and pair_count, which replace context->hints. */
void rendezvous_stepd_receive_hints(struct stepd_context *context);

/* After the plan is carried out: sends srun the record of this node, if srun needs it. The record
 * holds the warnings in context->faults, which are removed there, because srun prints them. If
 * sending fails, they stay there, and a warning about the failure may join them. `placement` is
 * NULL if this node has no plan; then the record says that the node stands down. */
void rendezvous_stepd_send_record(struct stepd_context *context, const struct placement *placement);

/* After that: waits for the leaders of all nodes, for a limited time. If they do not come, the
 * warnings that were sent are in context->faults again. */
void rendezvous_stepd_await_leaders(struct stepd_context *context);

/* From another thread, when the step is over: makes a thread that waits in one of the above
 * return. */
void rendezvous_stepd_stop_waiting(struct stepd_context *context);

/* Returns true if rendezvous_stepd_await_leaders() would have to wait for other nodes. */
bool rendezvous_stepd_is_waiting(const struct stepd_context *context);

/* After rendezvous_stepd_await_leaders(): returns the global ranks of the leaders of all nodes, by
 * node, which the context owns, and *count, their number. Returns NULL and 0 if they are not
 * known. */
const uint32_t *rendezvous_stepd_leaders(const struct stepd_context *context, uint32_t *count);

/* Returns true if srun prints the report of the whole step. Then this node must not print its
 * own. */
bool rendezvous_stepd_is_reported(const struct stepd_context *context);

/* Disconnects and frees context->rendezvous. */
void rendezvous_stepd_end(struct stepd_context *context);

#endif
