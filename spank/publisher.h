#ifndef SPANK_PUBLISHER_H
#define SPANK_PUBLISHER_H

#include "context.h"
#include "publish.h"

/* slurmstepd's side of PMIx: which namespace this step is, whose ranks run here, and the plan as keys.
 * Without PMIx (--mpi=none, pmi2) there is nothing to do, and nothing is done. */

/* In init_post_opt, before PMIx starts: lets keys of ours reach the ranks under their names. */
void publisher_prepare(const struct context *context, spank_t spank);

/* Takes the ranks as PMIx counts them, where it knows them: all of the step, also in a heterogeneous
 * job, where SPANK counts each component from 0. From user_init on. What goes wrong is one of the
 * context's faults, and nothing is published then. */
void publisher_learn_ranks(struct context *context, spank_t spank, struct nuioa_namespaces *names);

/* Publishes what was achieved, by `export`. `names` as learnt; with none, nothing. */
void publisher_publish(struct context *context, const struct nuioa_namespaces *names,
                       const struct nuioa_plan *plan, const uint32_t *leaders,
                       uint32_t leader_count);

#endif
