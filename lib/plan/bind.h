/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_BIND_H
#define NUIOA_PLAN_BIND_H

#include <hwloc.h>
#include <sys/types.h>

#include "plan/assignment.h"

/* Binding of processes to CPUs and memory, by system calls. */

/* Sets `cpus` to the CPUs (OS indexes) on which a process may run. 0 or -errno. */
int nuioa_bind_read(pid_t pid, hwloc_bitmap_t cpus);

/* Binds a process to `cpus`. The process must have one thread still; threads that it creates later
 * inherit the binding. 0 or -errno (-EINVAL: no CPU is in its cpuset). */
int nuioa_bind_cpus(pid_t pid, hwloc_const_bitmap_t cpus);

/* A memory policy without pointers, so that shared memory can carry it to the task's process. */
#define NUIOA_NUMAS_MAX 1024
struct nuioa_mempolicy {
    enum nuioa_memory memory;
    unsigned long nodes[NUIOA_NUMAS_MAX / (8 * sizeof(unsigned long))]; /* bits: OS indexes */
};

/* Sets *policy to the memory policy of an assignment. 0, or -ERANGE if it has no NUMA node or one
 * with an OS index of NUIOA_NUMAS_MAX or more; *policy is the default policy then. */
int nuioa_mempolicy_of(const struct nuioa_assignment *assignment, struct nuioa_mempolicy *policy);

/* Sets the memory policy of the calling thread, which fork and exec keep. It only prefers or
 * interleaves, because with strict binding the kernel kills processes when a NUMA node is full. 0
 * or -errno. */
int nuioa_bind_memory(const struct nuioa_mempolicy *policy);

#endif
