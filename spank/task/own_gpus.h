/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_TASK_OWN_GPUS_H
#define SPANK_TASK_OWN_GPUS_H

#include <stdbool.h>

#include <slurm/spank.h>

#include "spank/stepd/step_run.h"

/* In the task, as the user: finds which GPUs this task itself sees, by its variables and by what
 * the kernel lets it use, and tells slurmstepd and the other tasks; others may see them, too
 * (spank/stepd/gpu_share.h). `local` is the task's local rank. It asks the kernel for each GPU, and
 * waits for no other process. It does nothing in a step without GPUs, or if slurmstepd has written
 * this task's part of the task memory and knows its GPUs. */
void own_gpus_tell(const struct step_run *context, uint32_t local, spank_t spank);

/* Returns true if the kernel denies this task all GPUs of the node, which is not emulated and has
 * one or more. Another task may have them. */
bool own_gpus_are_denied(const struct step_run *context);

#endif
