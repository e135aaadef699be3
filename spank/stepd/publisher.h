/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_PUBLISHER_H
#define SPANK_STEPD_PUBLISHER_H

#include "pmix/server/publish.h"
#include "spank/stepd/step_run.h"

/* Publishes the plan as PMIx keys. Without PMIx (--mpi=none, pmi2) the functions do nothing. All
 * are called in slurmstepd. They return no error: what goes wrong becomes a fault of the context,
 * if the comment says nothing else, and keys are missing. */

/* In init_post_opt, before PMIx starts, if the option `export` asks for nuioa's own keys: makes
 * PMIx give these keys to the ranks under their own names, by nuioa_publish_prepare(). A failure is
 * written to slurmd.log only. */
void publisher_prepare(const struct step_run *context, spank_t spank);

/* In user_init: opens context->publisher, which stays NULL if nothing is to be published or PMIx
 * cannot be used; the functions below accept that. Replaces context->facts->step.ranks with the
 * ranks that PMIx has, which count over all components of a heterogeneous step. It waits for PMIx
 * for a second at most; under contain_spank without a limit, because there it must not start a
 * thread. The caller closes the publisher with publisher_close(). */
void publisher_open(struct step_run *context, spank_t spank);

/* Frees context->publisher and sets it to NULL. A second call does nothing. */
void publisher_close(struct step_run *context);

/* Publishes the keys that the option `export` asks for, after the plan is carried out: those of
 * each rank and, unless that fails, those of the node. Tasks that find their NICs by themselves
 * (task_gpus_open) have no keys for them. Closes the publisher. */
void publisher_publish(struct step_run *context, const struct nuioa_plan *plan);

#endif
