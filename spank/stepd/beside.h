/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_BESIDE_H
#define SPANK_STEPD_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether other steps run on this node, with or without nuioa. */

/* Returns true if the kernel's list of sockets names that of another step's slurmstepd, which
 * Slurm calls NODE_JOB.STEP, in the directory of that of step `step` of job `job`. Steps that only
 * hold an allocation, and batch scripts, do not count. It reads one file of /proc. Returns false if
 * that cannot be read. */
bool beside_is_any(uint32_t job, uint32_t step);

/* The same for the text of that list, which is not trusted: `sockets` is as /proc/net/unix. */
bool beside_find(const char *sockets, uint32_t job, uint32_t step);

#endif
