/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_TASK_BATCH_SCRIPT_H
#define SPANK_TASK_BATCH_SCRIPT_H

#include <slurm/spank.h>

/* In the batch step of a job with sbatch --nuioa, before its script begins, as the user: reads the
 * script, and says if it starts ranks that are not placed. It does nothing in other steps. */
void batch_script_advise(spank_t spank);

#endif
