/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_RENDEZVOUS_STEPD_H
#define SPANK_STEPD_RENDEZVOUS_STEPD_H

#include "spank/stepd/placement.h"
#include "spank/stepd/stepd_context.h"

/* slurmstepd's part in the rendezvous (spank/rendezvous/wire.h): these functions connect the hooks
 * with it. No function fails: without a rendezvous this node prints its own report. All functions
 * accept a context whose `rendezvous` is NULL. One thread calls them, except
 * rendezvous_stepd_stop_waiting(). */

/* In init_post_opt, because the call then overlaps with the start of PMIx: connects to srun and
 * sends the hello, if this step needs a rendezvous. A node without a plan (context->active is
 * false) calls too, so that srun need not wait for it. Sets context->rendezvous, which
 * rendezvous_stepd_end() frees, or leaves it NULL without memory. A failure is added to
 * context->faults, or written to slurmd.log if srun or another node tells the user. */
void rendezvous_stepd_call(struct stepd_context *context, spank_t spank);

/* In init_post_opt, on a node that will not call srun: writes the reason `why` to slurmd.log, if
 * srun has opened its port, because srun refers its user to that log. */
void rendezvous_stepd_decline(spank_t spank, const char *why);

/* Before the plan: waits for this node's slice of the hints file, if the options name a file. If
 * srun sends one, sets context->profile, which rendezvous_stepd_end() frees. If the slice does not
 * come, there is no rendezvous for this node any more, which is noted as for
 * rendezvous_stepd_call(). */
void rendezvous_stepd_receive_hints(struct stepd_context *context);

/* After the plan is carried out: sends srun the record of this node, with the faults of the context
 * (rendezvous_stepd_faults_told). If sending fails, a warning about that may join them. `placement`
 * is NULL if this node has no plan; then the record says so. */
void rendezvous_stepd_send_record(struct stepd_context *context, const struct placement *placement);

/* After rendezvous_stepd_send_record(): if a report is wanted or there are faults, waits until srun
 * knows this node, for what is left of the option timeout_ms. It returns at once if srun was sent
 * nothing. */
void rendezvous_stepd_await_answer(struct stepd_context *context);

/* From another thread, when the step is over: makes a thread that waits in one of the functions
 * above return, within about a tenth of a second. */
void rendezvous_stepd_stop_waiting(struct stepd_context *context);

/* Returns how many milliseconds this node may let srun wait for its record: half of what is left of
 * the option timeout_ms; UINT_MAX if srun waits for no record of it, or for no other. */
unsigned rendezvous_stepd_spare_ms(const struct stepd_context *context);

/* After rendezvous_stepd_send_record(): returns true if rendezvous_stepd_await_answer() would have
 * to wait, because srun has not answered yet. It does not wait itself. */
bool rendezvous_stepd_is_waiting(const struct stepd_context *context);

/* After rendezvous_stepd_await_answer(): returns how many faults, the first ones in
 * context->faults, srun prints for the user: those in the record, if srun has answered. */
unsigned rendezvous_stepd_faults_told(const struct stepd_context *context);

/* After rendezvous_stepd_await_answer(): returns true if the report, where one is asked for, is
 * srun's: it says what this node has sent. Then this node must not print its own. */
bool rendezvous_stepd_is_reported(const struct stepd_context *context);

/* Disconnects, frees context->rendezvous, and context->profile. No other
 * thread may use it any more. */
void rendezvous_stepd_end(struct stepd_context *context);

#endif
