/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_CGROUP_H
#define SPANK_CGROUP_H

#include <hwloc.h>
#include <sys/types.h>

/* What the kernel lets a process use, whatever it is bound to at present. */

/* CPUs of its cgroup's cpuset (v2 or v1). 0; -ENOENT if there is no cpuset; or another -errno. */
int cgroup_cpus(pid_t pid, hwloc_bitmap_t cpus);

/* NUMA nodes that it may get memory from. 0 or -errno. */
int cgroup_numas(pid_t pid, hwloc_bitmap_t numas);

#endif
