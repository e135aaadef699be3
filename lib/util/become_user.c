/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/become_user.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* The process may map so much more than it has mapped. */
#define MEMORY_BYTES (512UL << 20)

static int set_ids(const struct nuioa_user *u)
{
    if (geteuid() != 0 && getuid() == 0 && seteuid(0) < 0)
        return -errno;
    if (geteuid() == 0 && setgroups((size_t)u->group_count, u->groups) < 0)
        return -errno;
    if (setresgid(u->gid, u->gid, u->gid) < 0 || setresuid(u->uid, u->uid, u->uid) < 0)
        return -errno;
    return 0;
}

static bool are_all_ids(const struct nuioa_user *u)
{
    uid_t real, effective, saved;
    gid_t real_group, effective_group, saved_group;
    return !getresuid(&real, &effective, &saved) && real == u->uid && effective == u->uid &&
           saved == u->uid && !getresgid(&real_group, &effective_group, &saved_group) &&
           real_group == u->gid && effective_group == u->gid && saved_group == u->gid;
}

/* Returns the bytes that the process has mapped; 0: not known. */
static rlim_t mapped_bytes(void)
{
    unsigned long pages = 0;
    FILE *in = fopen("/proc/self/statm", "re");
    if (!in)
        return 0;
    if (fscanf(in, "%lu", &pages) != 1)
        pages = 0;
    fclose(in);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static int set_limits(void)
{
    struct rlimit core = { 0, 0 }, memory;
    rlim_t mapped = mapped_bytes();
    if (setrlimit(RLIMIT_CORE, &core) < 0 || getrlimit(RLIMIT_AS, &memory) < 0)
        return -errno;
    if (!mapped || (memory.rlim_cur != RLIM_INFINITY && memory.rlim_cur < mapped + MEMORY_BYTES))
        return 0;
    memory.rlim_cur = mapped + MEMORY_BYTES;
    return setrlimit(RLIMIT_AS, &memory) < 0 ? -errno : 0;
}

int nuioa_become_user(const struct nuioa_user *u)
{
    int signal = 0;
    pid_t parent = getppid();
    if (u->uid == 0)
        return -EPERM;
    if (prctl(PR_GET_PDEATHSIG, &signal) < 0)
        return -errno;
    int rc = set_limits();
    if (!rc)
        rc = set_ids(u);
    if (rc < 0)
        return rc;
    if (!are_all_ids(u))
        return -EPERM;
    if (prctl(PR_SET_DUMPABLE, 0) < 0 || (signal && prctl(PR_SET_PDEATHSIG, signal) < 0))
        return -errno;
    return getppid() == parent ? 0 : -ESRCH;
}
