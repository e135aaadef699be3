/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_TASK_OWN_SETTINGS_H
#define SPANK_TASK_OWN_SETTINGS_H

#include <slurm/spank.h>

#include "spank/stepd/step_run.h"

/* In the task, as the user: its memory policy and its variables, which slurmstepd has written into
 * the task memory (spank/stepd/rank_settings.h). `local` is the task's local rank, from 0. */

/* Sets the memory policy and the variables from the task's part of context->task_memory, whether
 * the memory is open or not. Variables of other programs that the user has set stay as they are. If
 * the plan was made without the task's GPUs, and own_gpus_tell() has found them, the variables for
 * the NICs are those of the table (spank/task/gpu_nics_lookup.h); if it sees several, this waits
 * until the other tasks have told theirs, at most deadline_ms. For export=auto it may wait as long
 * again for files that choose NICs (output/library_choice.h). It does nothing if slurmstepd has not
 * written this part. What cannot be set is left as it was. */
void own_settings_apply(const struct step_run *context, uint32_t local, spank_t spank);

#endif
