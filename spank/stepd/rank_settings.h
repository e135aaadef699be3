/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_RANK_SETTINGS_H
#define SPANK_STEPD_RANK_SETTINGS_H

#include "plan/plan.h"
#include "spank/stepd/step_run.h"

/* In slurmstepd: the settings of each rank, which are its memory policy and its variables. They are
 * written into the task memory, and the task takes them from there (spank/task/own_settings.h). */

/* In init_post_opt: removes from the job's environment the NUIOA_* variables that an outer step
 * left. They would be wrong in this step: ranks would wait for a leader that leads another step. */
void rank_settings_unset_outer(spank_t spank);

/* In init_post_opt of every step, also where nuioa is off, and of a batch script: removes what
 * nuioa has set for other libraries in a rank of an outer step (output/exported.h). */
void rank_settings_unset_exported(spank_t spank);

/* After the plan is carried out and before any task calls exec: writes each task's memory policy
 * and variables into context->task_memory. A task whose variables do not fit gets none. One whose
 * memory policy names NUMA nodes from NUIOA_NUMAS_MAX on keeps Slurm's. Each is a fault of the
 * context. If the plan is for another machine, a task gets nuioa's own variables only. */
void rank_settings_write(struct step_run *context, const struct nuioa_plan *plan);

#endif
