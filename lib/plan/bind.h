/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_BIND_H
#define NUIOA_PLAN_BIND_H

#include <hwloc.h>
#include <sys/types.h>

#include "ranks/assignment.h"

/* Binding of processes to CPUs and memory, by system calls. A process is named by its pid; 0 is the
 * calling thread. All functions return 0 or a negative errno. */

/* Sets `cpus`, the caller's bitmap, to the CPUs (OS indexes) on which a process may run. Returns 0;
 * -ESRCH if there is no such process; or -ENOMEM. The content of `cpus` is undefined after an
 * error. */
int nuioa_bind_read(pid_t pid, hwloc_bitmap_t cpus);

/* Binds a process to `cpus` (OS indexes). The process must have one thread still; threads that it
 * creates later inherit the binding. Returns 0; -EINVAL if `cpus` is empty or infinite, or if none
 * of them is in the cpuset of the process; -ESRCH if there is no such process; -EPERM if it is
 * another user's; or -ENOMEM. After an error the old binding stands. */
int nuioa_bind_cpus(pid_t pid, hwloc_const_bitmap_t cpus);

/* The number of NUMA nodes that a memory policy can name; the kernel's own limit is the same. */
#define NUIOA_NUMAS_MAX 1024

/* A memory policy without pointers, so that shared memory can carry it to the task's process. */
struct nuioa_mempolicy {
    enum nuioa_memory memory;
    unsigned long nodes[NUIOA_NUMAS_MAX / (8 * sizeof(unsigned long))]; /* bit N: OS index N */
};

/* Sets *policy to the memory policy of an assignment. For NUIOA_MEMORY_KEPT it is the default one,
 * so that the user's policy stays. Returns 0; or -ERANGE if the policy is not the default and has
 * no NUMA node, or one with an OS index of NUIOA_NUMAS_MAX or more: *policy is then the default
 * policy. */
int nuioa_mempolicy_of(const struct nuioa_assignment *assignment, struct nuioa_mempolicy *policy);

/* Sets the memory policy of the calling thread, which fork and exec keep. The default policy
 * changes nothing. The policy only prefers or interleaves, because with strict binding the kernel
 * kills processes when a NUMA node is full. Returns 0 or the negative errno of set_mempolicy(2),
 * and the old policy then stands. A kernel without NUMA has no such call, and all memory is on NUMA
 * node 0: a policy of that node alone is then met. */
int nuioa_bind_memory(const struct nuioa_mempolicy *policy);

#endif
