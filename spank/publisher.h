/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_PUBLISHER_H
#define SPANK_PUBLISHER_H

#include "pmix/server/publish.h"
#include "spank/stepd_context.h"

/* Publishes the plan as PMIx keys. Without PMIx (--mpi=none, pmi2) the functions do nothing. All
 * are called in slurmstepd; what goes wrong becomes a fault of the context. */

/* In init_post_opt, before PMIx starts: makes PMIx give nuioa's keys to the ranks under their own
 * names. */
void publisher_prepare(const struct stepd_context *context, spank_t spank);

/* In user_init or later: opens context->publisher, which stays NULL if nothing is to be published;
 * the functions below accept that. Replaces context->step.ranks with the ranks that PMIx has, which
 * count over all components of a heterogeneous step. */
void publisher_open(struct stepd_context *context, spank_t spank);

/* Closes context->publisher and sets it to NULL. */
void publisher_close(struct stepd_context *context);

/* Publish what the option `export` asks for: first the keys of each rank; then those of the node
 * and the job, after which the publisher is closed. `leaders` are the leaders of all nodes, by
 * node; NULL and 0: not known. */
void publisher_tasks(struct stepd_context *context, const struct nuioa_plan *plan);
void publisher_node(struct stepd_context *context, const struct nuioa_plan *plan,
                    const uint32_t *leaders, uint32_t leader_count);

#endif
