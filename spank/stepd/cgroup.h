/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_CGROUP_H
#define SPANK_STEPD_CGROUP_H

#include <hwloc.h>
#include <sys/types.h>

/* What the kernel allows a process, by its cgroup.
 *
 * CPUs and NUMA nodes are those that a process may use, whatever it is bound to at present. The
 * caller allocates the bitmaps, whose bits are OS indexes. After an error their content is
 * undefined. */

/* Replaces `cpus` by the CPUs of the cpuset in the cgroup (version 1 or 2) of the process `pid`.
 * Returns 0; -ENOENT if there is no cpuset or no such process; -EINVAL as cgroup_open; or another
 * -errno. */
int cgroup_cpus(pid_t pid, hwloc_bitmap_t cpus);

/* Replaces `numas` by the NUMA nodes that the process `pid` may allocate memory on. Returns 0 or
 * -errno. */
int cgroup_numas(pid_t pid, hwloc_bitmap_t numas);

/* Opens the directory of the cgroup (version 2) that the process `pid` is in. Returns a descriptor
 * (O_PATH), which the caller closes; or -ENOENT if the process is in no such cgroup, -EINVAL if its
 * name is not one of a cgroup that can be seen from here, or another -errno. */
int cgroup_open(pid_t pid);

/* Moves the process `pid`, a child of slurmstepd, out of the step's cgroup (version 2), for whose
 * end slurmstepd waits, into that of slurmstepds without a step: from SCOPE/JOB/STEP/slurm to
 * SCOPE/system. If it is elsewhere, it stays there. */
void cgroup_leave_step(pid_t pid);

#endif
