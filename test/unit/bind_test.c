/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel_without.h"
#include "plan/bind.h"
#include "unit.h"

/* Above the largest number of processes that Linux allows. */
enum { NO_PROCESS = 1 << 23 };

static hwloc_bitmap_t mask_of(pid_t pid)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    assert_non_null(cpus);
    assert_int_equal(nuioa_bind_read(pid, cpus), 0);
    return cpus;
}

TEST(test_read)
{
    cpu_set_t kernel;
    hwloc_bitmap_t cpus = mask_of(0);
    assert_int_equal(sched_getaffinity(0, sizeof(kernel), &kernel), 0);
    assert_int_equal(hwloc_bitmap_weight(cpus), CPU_COUNT(&kernel));
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        assert_int_equal(hwloc_bitmap_isset(cpus, cpu), !!CPU_ISSET(cpu, &kernel));
    assert_int_equal(nuioa_bind_read(NO_PROCESS, cpus), -ESRCH);
    hwloc_bitmap_free(cpus);
}

/* A child waits while its parent binds it to one of its CPUs, reads that back, and frees it. */
TEST(test_bind)
{
    int gate[2];
    char byte;
    assert_int_equal(pipe(gate), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) != 0);
    }
    close(gate[0]);
    hwloc_bitmap_t all = mask_of(child), one = hwloc_bitmap_alloc();
    hwloc_bitmap_only(one, (unsigned)hwloc_bitmap_last(all));
    assert_int_equal(nuioa_bind_cpus(child, one), 0);
    hwloc_bitmap_t now = mask_of(child);
    assert_true(hwloc_bitmap_isequal(now, one));
    assert_int_equal(nuioa_bind_cpus(child, all), 0);
    hwloc_bitmap_free(now);
    now = mask_of(child);
    assert_true(hwloc_bitmap_isequal(now, all));
    close(gate[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    hwloc_bitmap_free(all);
    hwloc_bitmap_free(one);
    hwloc_bitmap_free(now);
}

/* A mask that cannot be set changes nothing. */
TEST(test_refused_masks)
{
    hwloc_bitmap_t before = mask_of(0), cpus = hwloc_bitmap_alloc();
    assert_int_equal(nuioa_bind_cpus(0, cpus), -EINVAL); /* no CPU */
    hwloc_bitmap_set(cpus, 60000);
    assert_int_equal(nuioa_bind_cpus(0, cpus), -EINVAL); /* none that this machine has */
    hwloc_bitmap_set(cpus, 1 << 16);
    assert_int_equal(nuioa_bind_cpus(0, cpus), -EINVAL); /* none that any kernel has */
    hwloc_bitmap_fill(cpus);
    assert_int_equal(nuioa_bind_cpus(0, cpus), -EINVAL); /* without an end */
    assert_int_equal(nuioa_bind_cpus(NO_PROCESS, before), -ESRCH);
    hwloc_bitmap_t after = mask_of(0);
    assert_true(hwloc_bitmap_isequal(before, after));
    hwloc_bitmap_free(before);
    hwloc_bitmap_free(cpus);
    hwloc_bitmap_free(after);
}

static int policy_for(struct nuioa_mempolicy *policy, enum nuioa_memory memory, int numa)
{
    struct nuioa_assignment assignment = { .memory = memory, .memory_numas = hwloc_bitmap_alloc() };
    if (numa >= 0)
        hwloc_bitmap_set(assignment.memory_numas, (unsigned)numa);
    int rc = nuioa_mempolicy_of(&assignment, policy);
    hwloc_bitmap_free(assignment.memory_numas);
    return rc;
}

TEST(test_memory_policies)
{
    struct nuioa_mempolicy policy;
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_DEFAULT, -1), 0);
    assert_int_equal(policy.memory, NUIOA_MEMORY_DEFAULT);
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_PREFERRED, 65), 0);
    assert_int_equal(policy.memory, NUIOA_MEMORY_PREFERRED);
    assert_int_equal(policy.nodes[1], 2);
    assert_int_equal(policy.nodes[0], 0);
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_INTERLEAVE, NUIOA_NUMAS_MAX - 1), 0);
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_INTERLEAVE, NUIOA_NUMAS_MAX), -ERANGE);
    assert_int_equal(policy.memory, NUIOA_MEMORY_DEFAULT);
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_PREFERRED, -1), -ERANGE);

    struct nuioa_assignment all = { .memory = NUIOA_MEMORY_PREFERRED,
                                    .memory_numas = hwloc_bitmap_alloc_full() };
    assert_int_equal(nuioa_mempolicy_of(&all, &policy), -ERANGE); /* without an end */
    hwloc_bitmap_free(all.memory_numas);
}

static int kernel_policy(void)
{
    int mode = -1;
    return syscall(SYS_get_mempolicy, &mode, NULL, 0ul, NULL, 0ul) ? -errno : mode;
}

/* NUMA node 0 is on every machine whose kernel has memory policies. */
TEST(test_bind_memory)
{
    struct nuioa_mempolicy policy = { .memory = NUIOA_MEMORY_DEFAULT };
    int before = kernel_policy();
    assert_int_equal(nuioa_bind_memory(&policy), 0);
    assert_int_equal(kernel_policy(), before); /* Slurm's --mem-bind stands */
    if (before < 0)
        skip(); /* the kernel, or a container's filter, has no memory policies */
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_PREFERRED, 0), 0);
    assert_int_equal(nuioa_bind_memory(&policy), 0);
    assert_int_equal(kernel_policy(), MPOL_PREFERRED);
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_INTERLEAVE, 0), 0);
    assert_int_equal(nuioa_bind_memory(&policy), 0);
    assert_int_equal(kernel_policy(), MPOL_INTERLEAVE);
    /* a NUMA node that is not there */
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_INTERLEAVE, NUIOA_NUMAS_MAX - 1), 0);
    assert_int_equal(nuioa_bind_memory(&policy), -EINVAL);
    assert_int_equal(kernel_policy(), MPOL_INTERLEAVE);
    assert_int_equal(syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0ul), 0);
}

/* The last test, because the call never comes back. */
TEST(test_kernel_without_numa)
{
    struct nuioa_mempolicy policy;
    if (kernel_policy() >= 0 && kernel_without(SYS_set_mempolicy))
        skip();
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_PREFERRED, 0), 0);
    assert_int_equal(nuioa_bind_memory(&policy), 0);
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_PREFERRED, 1), 0);
    assert_int_equal(nuioa_bind_memory(&policy), -ENOSYS);
    assert_int_equal(policy_for(&policy, NUIOA_MEMORY_PREFERRED, NUIOA_NUMAS_MAX - 1), 0);
    assert_int_equal(nuioa_bind_memory(&policy), -ENOSYS);
    policy.nodes[0] = 1; /* and one of the others */
    assert_int_equal(nuioa_bind_memory(&policy), -ENOSYS);
}
