/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_CGROUP_H
#define SPANK_CGROUP_H

#include <hwloc.h>
#include <sys/types.h>

/* The CPUs and NUMA nodes that the kernel allows a process, whatever it is bound to at present. The
 * caller allocates the bitmaps, whose bits are OS indexes. After an error their content is
 * undefined. */

/* Replaces `cpus` by the CPUs of the cpuset in the cgroup (version 1 or 2) of the process `pid`.
 * Returns 0; -ENOENT if there is no cpuset or no such process; or another -errno. */
int cgroup_cpus(pid_t pid, hwloc_bitmap_t cpus);

/* Replaces `numas` by the NUMA nodes that the process `pid` may allocate memory on. Returns 0 or
 * -errno. */
int cgroup_numas(pid_t pid, hwloc_bitmap_t numas);

#endif
