/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_GPU_ACCESS_H
#define SPANK_STEPD_GPU_ACCESS_H

#include <stdint.h>

#include "topology/gpu_device_file.h"

/* Which GPUs the processes of a cgroup (version 2) may use, as the kernel says. */

/* What the kernel says of one device file. */
enum gpu_access {
    GPU_ACCESS_UNKNOWN, /* there is no such file, or another error */
    GPU_ACCESS_GRANTED,
    GPU_ACCESS_DENIED, /* the cgroup denies it (EPERM) */
    GPU_ACCESS_CLOSED  /* its mode denies it (EACCES), which says nothing of the cgroup */
};

/* Asks for each device file whether the calling process may read and write it: access[count] gets
 * values of enum gpu_access. A GPU whose file is not known is GPU_ACCESS_UNKNOWN. It allocates
 * nothing, and a child of a process with several threads may call it. */
void gpu_access_self(const struct nuioa_gpu_device *devices, uint32_t count, uint8_t *access);

/* Asks the same for the processes of a cgroup, as root. A child that is born in the cgroup asks,
 * because no process can ask for another one. `cgroup` is a descriptor of the cgroup's directory.
 * access[count] is in memory that children share (MAP_SHARED). The child sends no signal when it
 * ends, so that others who wait for children do not see it; it is ended at until_ms, a time of
 * nuioa_clock_ms(). Returns 0; or negative, and access[] is undefined: -ENOSYS if the headers are
 * older than Linux 5.7 or the kernel is older than 5.3 (until 5.7 it is -E2BIG), -ETIMEDOUT,
 * -ECHILD if the child was killed, or the negative errno of clone3(2) or poll(2). */
int gpu_access_ask(int cgroup, const struct nuioa_gpu_device *devices, uint32_t count,
                   int64_t until_ms, uint8_t *access);

#endif
