/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_GPU_TABLE_H
#define SPANK_STEPD_GPU_TABLE_H

#include "plan/plan.h"
#include "ranks/request.h"
#include "spank/stepd/step_run.h"

/* The NICs of each GPU, for tasks whose GPUs slurmstepd does not know when it makes the plan. They
 * look up their own in the table, and wait for nobody. Beside it is its text, for programs that
 * choose a GPU by themselves. */

/* In slurmstepd, before the tasks may read it: writes the table, if the GPUs of a task are open.
 * It holds the NICs that each GPU would get if each had a rank of its own. `request` is that of the
 * step's plan. If memory is short, there is no table. */
void gpu_table_write(struct step_run *context, const struct nuioa_request *request);

#endif
