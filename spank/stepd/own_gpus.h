/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_OWN_GPUS_H
#define SPANK_STEPD_OWN_GPUS_H

#include "spank/stepd/stepd_context.h"

/* In the task, as the user: which GPUs this task itself sees. Other tasks may see them, too
 * (spank/stepd/gpu_share.h). */

/* Finds the GPUs that this task sees and writes them to *set: those that its variables name
 * (topology/gpu_visible.h); else the only one whose file it may use, if the kernel denies it
 * others. set->state is TASK_GPUS_UNKNOWN if neither tells; the set then has those whose files it
 * may use, or none if that is not known of every GPU. `environment` is that of the task. It asks
 * the kernel for each GPU, and does not wait. */
void own_gpus_find(const struct stepd_context *context, char *const *environment,
                   struct task_gpu_set *set);

#endif
