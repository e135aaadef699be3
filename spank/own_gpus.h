/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_OWN_GPUS_H
#define SPANK_OWN_GPUS_H

#include "spank/stepd_context.h"

/* In the task, as the user: which GPUs this task itself has. */

/* Finds the GPUs of this task and writes them to *set: those whose files it may use, if the kernel
 * denies it others; else those that its variables name (topology/gpu_visible.h). set->state is
 * TASK_GPUS_UNKNOWN if neither tells. `environment` is that of the task. It asks the kernel for
 * each GPU, and does not wait. */
void own_gpus_find(const struct stepd_context *context, char *const *environment,
                   struct task_gpu_set *set);

#endif
