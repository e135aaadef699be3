/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_GPUS_H
#define NUIOA_UTIL_GPUS_H

/* How many GPUs a process was given. */
enum nuioa_gpus { NUIOA_GPUS_UNKNOWN, NUIOA_GPUS_NONE, NUIOA_GPUS_ONE, NUIOA_GPUS_SEVERAL };

/* As its variables say: those that Slurm, or the user, sets for the vendors' libraries, of which
 * the one that names most counts; where they name none, those in which Slurm says what the whole
 * step has on the node. `environment` ends with NULL, and may be NULL. UNKNOWN: no variable
 * says. */
enum nuioa_gpus nuioa_gpus_given(char *const *environment);

#endif
