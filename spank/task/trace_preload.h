/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_TASK_TRACE_PRELOAD_H
#define SPANK_TASK_TRACE_PRELOAD_H

#include "spank/stepd/step_run.h"

/* In the task, as the user, in the hook task_init: adds libnuioa-preload.so to LD_PRELOAD and sets
 * its variable, if the option "trace" asks for a trace, whether ranks are placed or not, and the
 * program is no launcher such as mpirun. The preloaded library finds out which MPI the program
 * uses. If the library cannot be used, rank 0 prints a line that says why, and the task runs
 * without it. It also prints one if the trace's directory cannot be written. */
void preload_enter(const struct step_run *context, spank_t spank);

#endif
