/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_CGROUP_H
#define SPANK_CGROUP_H

#include <hwloc.h>
#include <sys/types.h>

/* The CPUs and NUMA nodes that the kernel allows a process, whatever it is bound to at present. */

/* Gets the CPUs of the cpuset in the cgroup (version 1 or 2) of a process. 0; -ENOENT: there is no
 * cpuset; or another -errno. */
int cgroup_cpus(pid_t pid, hwloc_bitmap_t cpus);

/* Gets the NUMA nodes that a process may allocate memory on. 0 or -errno. */
int cgroup_numas(pid_t pid, hwloc_bitmap_t numas);

#endif
