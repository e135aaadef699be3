/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_OTHER_STEPS_H
#define SPANK_STEPD_OTHER_STEPS_H

#include "plan/plan.h"
#include "spank/stepd/stepd_context.h"

/* In slurmstepd: tells the other steps of this node how this step uses the NICs, and hears it from
 * them (steps/step_load.h). Nothing here waits or fails a launch: what is not known counts as no
 * load, and slurmd's log says why. */

/* Opens the directory that the option `steps` names, and sets c->other_steps, unless the option is
 * off. It must be called in init_post_opt, because later hooks may see the file system of the job
 * instead of the host's. */
void other_steps_open(struct stepd_context *c, spank_t spank);

/* Reads what the other steps tell. Returns how many ranks of average weight they have on each NIC,
 * [c->node.nic_count], or NULL if there is no other step or nothing is known. c->other_steps owns
 * the array, until the next call or other_steps_close. */
const double *other_steps_read(struct stepd_context *c);

/* Tells the other steps which NICs the ranks of `plan` use. Ranks that share cores count for no
 * more than these cores, since they take turns on them. */
void other_steps_tell(struct stepd_context *c, const struct nuioa_plan *plan);

/* Takes back what other_steps_tell told, and frees c->other_steps, which may be NULL. */
void other_steps_close(struct stepd_context *c);

#endif
