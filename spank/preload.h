/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_PRELOAD_H
#define SPANK_PRELOAD_H

#include "spank/stepd_context.h"

/* In the task, as the user: sets up what options "trace" and "coll" ask for, whether ranks are
 * placed or not; `told`: what the task memory holds is known to this task. The shim that is
 * preloaded finds out which MPI there is. */
void preload_enter(const struct stepd_context *context, bool told, spank_t spank);

#endif
