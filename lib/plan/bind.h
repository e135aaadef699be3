/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_BIND_H
#define NUIOA_PLAN_BIND_H

#include <hwloc.h>
#include <sys/types.h>

#include "plan/assignment.h"

/* Where a process may run: fills `cpus` (OS indexes). 0 or -errno. */
int nuioa_bind_read(pid_t pid, hwloc_bitmap_t cpus);

/* Binds all threads-to-be of a process that has one thread. 0 or -errno (-EINVAL: outside its
 * cpuset). */
int nuioa_bind_cpus(pid_t pid, hwloc_const_bitmap_t cpus);

/* A memory policy as plain data, to be carried to the task's process in shared memory. */
#define NUIOA_NUMAS_MAX 1024
struct nuioa_mempolicy {
    enum nuioa_memory memory;
    unsigned long nodes[NUIOA_NUMAS_MAX / (8 * sizeof(unsigned long))];
};

/* Of a place. -ERANGE if a NUMA node's index is too large; the policy is the default one then. */
int nuioa_mempolicy_of(const struct nuioa_assignment *assignment, struct nuioa_mempolicy *policy);

/* Sets the policy of the calling thread, inherited through fork and exec. Never strict: strict
 * binding kills by OOM. 0 or -errno. */
int nuioa_bind_memory(const struct nuioa_mempolicy *policy);

#endif
