/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "util/become_user.h"

/* Each test runs in a child, which then is another user for good. Most need root. */

#define UID 4711
#define GID 4712
static const gid_t groups[] = { 4713, 4714 };
static const struct nuioa_user somebody = { UID, GID, groups, 2 };

/* Returns 0 if all is right in the child; else the line of the first check that is not. */
static int in_child(int (*check)(void))
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(check());
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define MUST(what) \
    do { \
        if (!(what)) \
            return __LINE__ % 256; \
    } while (0)

static void need_root(void)
{
    if (getuid() != 0) {
        print_message("# this needs root\n");
        skip();
    }
}

static int has_all_ids(void)
{
    uid_t real, effective, saved;
    gid_t own, ours, former, got[8];
    MUST(!getresuid(&real, &effective, &saved));
    MUST(real == UID && effective == UID && saved == UID);
    MUST(!getresgid(&own, &ours, &former));
    MUST(own == GID && ours == GID && former == GID);
    MUST(getgroups(8, got) == 2 && got[0] == groups[0] && got[1] == groups[1]);
    MUST(setuid(0) < 0 && seteuid(0) < 0 && setgid(0) < 0 && setgroups(0, NULL) < 0);
    return 0;
}

static int becomes(void)
{
    MUST(nuioa_become_user(&somebody) == 0);
    return has_all_ids();
}

static int becomes_from_effective(void)
{
    MUST(!setegid(GID + 1) && !seteuid(UID + 1));
    MUST(nuioa_become_user(&somebody) == 0);
    return has_all_ids();
}

static int has_no_groups(void)
{
    const struct nuioa_user alone = { UID, GID, NULL, 0 };
    MUST(!setgroups(1, groups) && nuioa_become_user(&alone) == 0);
    MUST(getgroups(0, NULL) == 0);
    return 0;
}

TEST(test_ids)
{
    need_root();
    assert_int_equal(in_child(becomes), 0);
    assert_int_equal(in_child(becomes_from_effective), 0);
    assert_int_equal(in_child(has_no_groups), 0);
}

static int refuses_root(void)
{
    const struct nuioa_user root = { 0, GID, groups, 2 };
    MUST(nuioa_become_user(&root) == -EPERM);
    MUST(getuid() == 0 && getgid() == 0);
    return 0;
}

TEST(test_root)
{
    need_root();
    assert_int_equal(in_child(refuses_root), 0);
}

/* A process that is not root becomes nobody else. */
static int refuses_another(void)
{
    const struct nuioa_user another = { UID + 1, GID + 1, NULL, 0 };
    struct nuioa_user myself = { getuid(), getgid(), NULL, 0 };
    if (getuid() == 0) {
        MUST(!setresgid(GID, GID, GID) && !setresuid(UID, UID, UID));
        myself = (struct nuioa_user){ UID, GID, NULL, 0 };
    }
    MUST(nuioa_become_user(&another) < 0);
    MUST(getuid() == myself.uid);
    MUST(nuioa_become_user(&myself) == 0);
    return 0;
}

TEST(test_another)
{
    assert_int_equal(in_child(refuses_another), 0);
}

static struct nuioa_user whom(void)
{
    return getuid() == 0 ? somebody : (struct nuioa_user){ getuid(), getgid(), NULL, 0 };
}

static bool maps(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED)
        munmap(at, bytes);
    return at != MAP_FAILED;
}

static int is_limited(void)
{
    struct rlimit core, before;
    struct nuioa_user user = whom();
    int signal = 0;
    MUST(!getrlimit(RLIMIT_AS, &before));
    MUST(!prctl(PR_SET_PDEATHSIG, SIGKILL));
    MUST(maps((size_t)600 << 20));
    MUST(nuioa_become_user(&user) == 0);
    MUST(!getrlimit(RLIMIT_CORE, &core) && core.rlim_cur == 0 && core.rlim_max == 0);
    MUST(prctl(PR_GET_DUMPABLE) == 0);
    MUST(!prctl(PR_GET_PDEATHSIG, &signal) && signal == SIGKILL);
#ifndef __SANITIZE_ADDRESS__ /* has mapped terabytes */
    MUST(!maps((size_t)600 << 20));
    MUST(maps((size_t)300 << 20));
#endif
    return 0;
}

TEST(test_limits)
{
    assert_int_equal(in_child(is_limited), 0);
}

/* What the other processes of the user may not open. */
static int looks_at(pid_t pid)
{
    static const char *const files[] = { "mem", "maps", "environ", "fd", "auxv" };
    MUST(!setgroups(0, NULL) && !setresgid(GID, GID, GID) && !setresuid(UID, UID, UID));
    MUST(!kill(pid, 0)); /* it is that user's */
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, files[i]);
        MUST(open(path, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
    }
    return 0;
}

static int cannot_be_read(void)
{
    int ready[2], status;
    char byte;
    MUST(!pipe2(ready, O_CLOEXEC));
    pid_t pid = fork();
    if (pid == 0) {
        byte = nuioa_become_user(&somebody) == 0;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    MUST(read(ready[0], &byte, 1) == 1 && byte);
    pid_t reader = fork();
    if (reader == 0)
        _exit(looks_at(pid));
    MUST(waitpid(reader, &status, 0) == reader);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

TEST(test_unreadable)
{
    need_root();
    assert_int_equal(in_child(cannot_be_read), 0);
}
