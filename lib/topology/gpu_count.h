/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_GPU_COUNT_H
#define NUIOA_TOPOLOGY_GPU_COUNT_H

#include <stdint.h>

/* How many GPUs a process may use, as far as its environment says. The values are in ascending
 * order. */
enum nuioa_gpus { NUIOA_GPUS_UNKNOWN, NUIOA_GPUS_NONE, NUIOA_GPUS_ONE, NUIOA_GPUS_SEVERAL };

/* Returns how many GPUs the variables in `environment` name (its form: see util/variable.h). First
 * it reads the variables that Slurm or the user sets for the vendors' libraries, such as
 * CUDA_VISIBLE_DEVICES; if they differ, the largest answer counts. If they name none, it reads the
 * variables in which Slurm says what the whole step has on the node: first SLURM_STEP_GPUS, then
 * SLURM_GPUS_ON_NODE, which says nothing if it is no number. Returns NUIOA_GPUS_UNKNOWN if no
 * variable says anything. */
enum nuioa_gpus nuioa_gpus_given(char *const *environment);

/* Returns how many GPUs the step has on this node, or the batch script, as Slurm says in
 * SLURM_STEP_GPUS and SLURM_GPUS_ON_NODE; the larger answer counts, because the first one may be of
 * the task alone. 0 if Slurm does not say. */
uint32_t nuioa_gpus_of_step(char *const *environment);

#endif
