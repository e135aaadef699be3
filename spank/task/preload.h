/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_TASK_PRELOAD_H
#define SPANK_TASK_PRELOAD_H

#include "spank/stepd/stepd_context.h"

/* In the task, as the user, in the hook task_init: adds libnuioa-preload.so to LD_PRELOAD and sets
 * the variables for the options "trace" and "coll", whether ranks are placed or not. It does
 * nothing if neither option asks for it, or the program is a launcher such as mpirun. The preloaded
 * library finds out which MPI the program uses. `complete` is true if the task memory is open; only
 * then its `job_known` counts. If the library cannot be used, rank 0 prints a line that says why,
 * and the task runs without it. */
void preload_enter(const struct stepd_context *context, bool complete, spank_t spank);

#endif
