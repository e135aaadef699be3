/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_PUBLISHER_H
#define SPANK_PUBLISHER_H

#include "pmix/server/publish.h"
#include "spank/stepd_context.h"

/* slurmstepd's side of PMIx: which namespace this step is, whose ranks run here, and the plan as
 * keys. Without PMIx (--mpi=none, pmi2) there is nothing to do, and nothing is done. */

/* In init_post_opt, before PMIx starts: lets keys of ours reach the ranks under their names. */
void publisher_prepare(const struct stepd_context *context, spank_t spank);

/* From user_init on. Takes the ranks as PMIx counts them, where it knows them: all of the step,
 * also in a heterogeneous job, where SPANK counts each component from 0. context->publisher stays
 * NULL, which is fine below, if nothing is to be published; what went wrong, if anything, is one of
 * the context's faults. */
void publisher_open(struct stepd_context *context, spank_t spank);
void publisher_close(struct stepd_context *context);

/* Publishes what was achieved, by `export`: first what is each rank's, then what is the node's and
 * the job's, which also closes. */
void publisher_tasks(struct stepd_context *context, const struct nuioa_plan *plan);
void publisher_node(struct stepd_context *context, const struct nuioa_plan *plan,
                    const uint32_t *leaders, uint32_t leader_count);

#endif
