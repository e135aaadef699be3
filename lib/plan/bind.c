/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/bind.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BITS_PER_LONG (8 * sizeof(unsigned long))

/* The kernel refuses a mask without room for every CPU that it could have. No kernel supports more
 * than 64 Ki CPUs. */
#define CPU_LONGS (65536 / BITS_PER_LONG)

int nuioa_bind_read(pid_t pid, hwloc_bitmap_t cpus)
{
    unsigned long mask[CPU_LONGS];
    unsigned longs = CPU_LONGS;
    if (sched_getaffinity(pid, sizeof(mask), (cpu_set_t *)mask) < 0)
        return -errno;
    /* drop the zeros at the end, because operations on a long set are slow */
    while (longs > 1 && !mask[longs - 1])
        longs--;
    return hwloc_bitmap_from_ulongs(cpus, longs, mask) < 0 ? -ENOMEM : 0;
}

int nuioa_bind_cpus(pid_t pid, hwloc_const_bitmap_t cpus)
{
    unsigned long mask[CPU_LONGS];
    int longs = hwloc_bitmap_nr_ulongs(cpus);
    if (longs <= 0 || (size_t)longs > CPU_LONGS)
        return -EINVAL;
    hwloc_bitmap_to_ulongs(cpus, (unsigned)longs, mask);
    size_t size = (size_t)longs * sizeof(*mask);
    return sched_setaffinity(pid, size, (cpu_set_t *)mask) < 0 ? -errno : 0;
}

int nuioa_mempolicy_of(const struct nuioa_assignment *assignment, struct nuioa_mempolicy *policy)
{
    memset(policy, 0, sizeof(*policy));
    if (assignment->memory == NUIOA_MEMORY_DEFAULT || assignment->memory == NUIOA_MEMORY_KEPT)
        return 0;
    if (hwloc_bitmap_iszero(assignment->memory_numas) ||
        hwloc_bitmap_last(assignment->memory_numas) >= NUIOA_NUMAS_MAX ||
        hwloc_bitmap_last(assignment->memory_numas) < 0)
        return -ERANGE;
    policy->memory = assignment->memory;
    hwloc_bitmap_to_ulongs(assignment->memory_numas, NUIOA_NUMAS_MAX / BITS_PER_LONG,
                           policy->nodes);
    return 0;
}

int nuioa_bind_memory(const struct nuioa_mempolicy *policy)
{
    int mode = policy->memory == NUIOA_MEMORY_PREFERRED    ? MPOL_PREFERRED
               : policy->memory == NUIOA_MEMORY_INTERLEAVE ? MPOL_INTERLEAVE
                                                           : -1;
    if (mode < 0)
        return 0;
    /* This does not use libnuma, which reads seven files in each process that loads it, here every
     * slurmstepd. The last argument is one more than the number of bits that the kernel reads. */
    if (!syscall(SYS_set_mempolicy, mode, policy->nodes, NUIOA_NUMAS_MAX + 1ul))
        return 0;
    int rc = -errno;
    const struct nuioa_mempolicy node_0 = { .nodes = { 1 } };
    return rc == -ENOSYS && !memcmp(policy->nodes, node_0.nodes, sizeof(node_0.nodes)) ? 0 : rc;
}
