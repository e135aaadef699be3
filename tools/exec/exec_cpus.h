/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_EXEC_CPUS_H
#define NUIOA_TOOL_EXEC_CPUS_H

#include <hwloc.h>
#include <stdbool.h>

#include "util/arena.h"
#include "util/error.h"

/* The CPUs and the memory that the kernel lets the calling process use. Sets have OS indexes. */
struct exec_cpus {
    hwloc_bitmap_t own;     /* CPUs on which it may run now */
    hwloc_bitmap_t all;     /* the effective cpuset of its cgroup: CPUs on which it could run */
    hwloc_bitmap_t numas;   /* NUMA nodes whose memory it may use; NULL: not known */
    bool has_memory_policy; /* somebody has set one, such as numactl(8) */
    hwloc_bitmap_t policy_numas; /* NUMA nodes that it prefers or demands; NULL: none, or spread */
    bool has_quota; /* the container may use less time than these CPUs have, as in Kubernetes */
    struct nuioa_arena arena; /* of the sets */
};

/* Reads all that. The kernel tells the CPUs and the memory, so that they are the same with cgroup
 * v1, v2 and none, and in a container. Only has_quota is from the files of the cgroup, below
 * /sys/fs/cgroup. A short-lived thread asks, and nothing is changed for the caller. Returns 0, or
 * negative with *err. The caller frees cpus->arena in any case. */
int exec_cpus_read(struct exec_cpus *cpus, struct nuioa_error *err);

#endif
