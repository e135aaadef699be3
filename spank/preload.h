/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_PRELOAD_H
#define SPANK_PRELOAD_H

#include "spank/stepd_context.h"

/* In the task, as the user: sets LD_PRELOAD and the variables for the options "trace" and "coll",
 * whether ranks are placed or not. The library that is preloaded finds out which MPI the program
 * uses. `complete`: the task memory is open, so that its `job_known` counts. */
void preload_enter(const struct stepd_context *context, bool complete, spank_t spank);

#endif
