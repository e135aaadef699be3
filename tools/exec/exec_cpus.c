/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/exec_input.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plan/bind.h"
#include "util/sysfs.h"

#define WEIGHTED_INTERLEAVE 6 /* MPOL_WEIGHTED_INTERLEAVE, which headers before Linux 6.9 lack */

#define CPU_MAX 65535

/* The argument and the result of the thread below. */
struct widest {
    hwloc_bitmap_t cpus;
    int rc;
};

/* Asks for all CPUs: the kernel leaves those of the cpuset. An affinity is that of one thread, and
 * this thread ends, so that the process keeps its own. */
static void *widen(void *context)
{
    struct widest *widest = context;
    hwloc_bitmap_t every = hwloc_bitmap_alloc();
    widest->rc = every && hwloc_bitmap_set_range(every, 0, CPU_MAX) >= 0 ? 0 : -ENOMEM;
    if (!widest->rc)
        widest->rc = nuioa_bind_cpus(0, every);
    if (!widest->rc)
        widest->rc = nuioa_bind_read(0, widest->cpus);
    hwloc_bitmap_free(every);
    return NULL;
}

static int read_widest(hwloc_bitmap_t cpus)
{
    struct widest widest = { cpus, 0 };
    pthread_t thread;
    int rc = pthread_create(&thread, NULL, widen, &widest);
    if (rc)
        return -rc;
    pthread_join(thread, NULL);
    return widest.rc;
}

static void read_memory(struct exec_cpus *cpus)
{
    unsigned long mask[NUIOA_NUMAS_MAX / (8 * sizeof(unsigned long))] = { 0 };
    int mode = MPOL_DEFAULT;
    if (!syscall(SYS_get_mempolicy, &mode, mask, NUIOA_NUMAS_MAX + 1ul, NULL, 0ul))
        cpus->has_memory_policy = mode != MPOL_DEFAULT;
    int kind = mode & ~MPOL_MODE_FLAGS;
    if (kind != MPOL_DEFAULT && kind != MPOL_INTERLEAVE && kind != WEIGHTED_INTERLEAVE &&
        (cpus->policy_numas = nuioa_arena_bitmap(&cpus->arena, NULL)))
        hwloc_bitmap_from_ulongs(cpus->policy_numas, sizeof(mask) / sizeof(*mask), mask);
    if (syscall(SYS_get_mempolicy, NULL, mask, NUIOA_NUMAS_MAX + 1ul, NULL, MPOL_F_MEMS_ALLOWED))
        return;
    cpus->numas = nuioa_arena_bitmap(&cpus->arena, NULL);
    if (cpus->numas)
        hwloc_bitmap_from_ulongs(cpus->numas, sizeof(mask) / sizeof(*mask), mask);
}

/* Returns true if the cgroup that a container sees as its root, in version 2 or 1, limits the time
 * on all CPUs together to less than that of `count` CPUs. */
static bool has_quota(int count)
{
    char text[64] = "";
    long quota_us = -1, period_us = 0;
    if (nuioa_sysfs_text(AT_FDCWD, text, sizeof(text), "/sys/fs/cgroup/cpu.max") > 0)
        return sscanf(text, "%ld %ld", &quota_us, &period_us) == 2 && quota_us / count < period_us;
    return !nuioa_sysfs_number(AT_FDCWD, &quota_us, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us") &&
           !nuioa_sysfs_number(AT_FDCWD, &period_us, "/sys/fs/cgroup/cpu/cpu.cfs_period_us") &&
           quota_us > 0 && quota_us / count < period_us;
}

int exec_cpus_read(struct exec_cpus *cpus, struct nuioa_error *err)
{
    *cpus = (struct exec_cpus){ 0 };
    cpus->own = nuioa_arena_bitmap(&cpus->arena, NULL);
    cpus->all = nuioa_arena_bitmap(&cpus->arena, NULL);
    if (!cpus->all)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    int rc = nuioa_bind_read(0, cpus->own);
    if (!rc)
        rc = read_widest(cpus->all);
    if (rc)
        return nuioa_fail(err, rc, "cannot find which CPUs this process may use: %s",
                          strerror(-rc));
    read_memory(cpus);
    cpus->has_quota = has_quota(hwloc_bitmap_weight(cpus->all));
    return 0;
}
