/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_TASK_TASK_H
#define SPANK_TASK_TASK_H

#include <slurm/spank.h>

#include "spank/stepd/step_run.h"

/* The hook task_init, in the task, as the user: sets its variables and its memory policy. It may
 * wait for slurmstepd (task_memory_wait) and for other tasks (own_settings_apply). Returns the
 * address to which the caller writes the time that this hook took, in microseconds, in memory
 * shared with slurmstepd; NULL if this step has none. */
uint32_t *task_init(const struct step_run *context, spank_t spank);

#endif
