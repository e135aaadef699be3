/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/stepd/cgroup.h"
#include "spank/stepd/user_child.h"
#include "unit.h"

/* Children of slurmstepd that have become the job's user: here of this process. */

enum { LIFE_MS = 60000 }; /* it only ends a hang */

static gid_t groups[] = { 4713 };
static struct {
    uid_t uid;
    gid_t *groups;
    int count;
    spank_err_t rc;
} job;

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    va_list args;
    (void)spank;
    va_start(args, item);
    void *to = va_arg(args, void *);
    if (item == S_JOB_SUPPLEMENTARY_GIDS) {
        *(gid_t **)to = job.groups;
        *va_arg(args, int *) = job.count;
    } else {
        *(uid_t *)to = job.uid;
    }
    va_end(args);
    return job.rc;
}

TEST(test_user)
{
    struct nuioa_user user;
    job.uid = 4711;
    job.groups = groups;
    job.count = 1;
    assert_int_equal(user_child_user(NULL, &user), 0);
    assert_int_equal(user.uid, 4711);
    assert_int_equal(user.group_count, 1);
    assert_ptr_equal(user.groups, groups);
    job.uid = 0;
    assert_int_equal(user_child_user(NULL, &user), -EPERM);
    job.uid = 4711;
    job.groups = NULL;
    assert_int_equal(user_child_user(NULL, &user), -ENODATA);
    job.groups = groups;
    job.count = -1;
    assert_int_equal(user_child_user(NULL, &user), -ENODATA);
    job.rc = ESPANK_ERROR;
    assert_int_equal(user_child_user(NULL, &user), -ENODATA);
}

static struct nuioa_user whom(void)
{
    struct nuioa_user user = { getuid() ? getuid() : 4711, getuid() ? getgid() : 4712, groups, 1 };
    return user;
}

/* Writes what its descriptors are, and then as many bytes as *arg says. */
static void tell(int fd, void *arg)
{
    static char block[1 << 16];
    char text[4096] = "";
    for (int number = 0; number < 64; number++) {
        char path[32], to[64] = "";
        snprintf(path, sizeof(path), "/proc/self/fd/%d", number);
        if (fcntl(number, F_GETFD) >= 0 && readlink(path, to, sizeof(to) - 1) < 0)
            snprintf(to, sizeof(to), "?");
        if (*to)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d=%.4s ", number, to);
    }
    nuioa_subprocess_write(fd, text, strlen(text));
    for (size_t left = *(size_t *)arg; left; left -= sizeof(block))
        nuioa_subprocess_write(fd, block, sizeof(block));
}

static void hang(int fd, void *arg)
{
    (void)fd, (void)arg;
    for (;;)
        pause();
}

/* It has no file but /dev/null and its pipe, and does not end by itself. */
TEST(test_files)
{
    struct nuioa_user user = whom();
    struct user_child child = USER_CHILD_NONE;
    size_t more = 0, length;
    void *bytes;
    int other = open("/", O_RDONLY), status;
    assert_true(other >= 0);
    assert_int_equal(
        user_child_start(&child, &(struct user_errand){ &user, tell, &more, -1 }, LIFE_MS), 0);
    assert_int_equal(user_child_read(&child, LIFE_MS, 4096, &bytes, &length), 0);
    char text[4097] = "";
    memcpy(text, bytes, length);
    free(bytes);
    assert_memory_equal(text, "0=/dev 1=/dev 2=/dev ", 21);
    assert_non_null(strstr(text + 21, "=pipe"));
    assert_null(strchr(strchr(text + 21, '=') + 1, '='));
    usleep(50000);
    assert_int_equal(waitpid(child.process.pid, &status, WNOHANG), 0);
    user_child_end(&child);
    assert_int_equal(waitpid(-1, &status, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    close(other);
}

/* Of a child that has begun to answer in time the rest is read, also if the plan is late. */
TEST(test_late)
{
    struct nuioa_user user = whom();
    struct user_child child = USER_CHILD_NONE;
    size_t more = 256 << 10, length;
    void *bytes;
    int rc = -ETIMEDOUT;
    for (int tries = 0; rc < 0 && tries < 20; tries++) { /* a busy machine */
        assert_int_equal(
            user_child_start(&child, &(struct user_errand){ &user, tell, &more, -1 }, LIFE_MS), 0);
        struct pollfd answer = { .fd = child.process.fd, .events = POLLIN };
        assert_int_equal(poll(&answer, 1, LIFE_MS), 1);
        rc = user_child_read(&child, 0, 1 << 20, &bytes, &length);
        user_child_end(&child);
    }
    assert_int_equal(rc, 0);
    assert_true(length > more);
    free(bytes);
}

TEST(test_hanging)
{
    struct nuioa_user user = whom();
    struct user_child child = USER_CHILD_NONE;
    size_t length;
    void *bytes;
    assert_int_equal(
        user_child_start(&child, &(struct user_errand){ &user, hang, NULL, -1 }, LIFE_MS), 0);
    assert_int_equal(user_child_read(&child, 0, 64, &bytes, &length), -ETIMEDOUT);
    assert_int_equal(user_child_read(&child, 20, 64, &bytes, &length), -ETIMEDOUT);
    pid_t pid = child.process.pid;
    user_child_end(&child);
    while (waitpid(pid, NULL, 0) == pid) /* a busy machine */
        ;
    assert_int_equal(kill(pid, 0), -1);
    user_child_end(&child);
}

/* The limit is from the start of the child: with none left nobody waits for it. If this did, it
 * would see the child's end. */
TEST(test_since_the_start)
{
    struct nuioa_user user = whom();
    struct user_child child = USER_CHILD_NONE;
    enum { SHORT_LIFE_MS = 10000, LIMIT_MS = 20000 };
    size_t length;
    void *bytes;
    assert_int_equal(
        user_child_start(&child, &(struct user_errand){ &user, hang, NULL, -1 }, SHORT_LIFE_MS), 0);
    child.started_ms -= LIMIT_MS;
    assert_int_equal(user_child_read(&child, LIMIT_MS, 64, &bytes, &length), -ETIMEDOUT);
    user_child_end(&child);
}

/* Slurm looks for processes of the step as soon as the last task has ended. */
TEST(test_killed)
{
    struct nuioa_user user = whom();
    struct user_child child = USER_CHILD_NONE;
    siginfo_t dead = { 0 };
    assert_int_equal(
        user_child_start(&child, &(struct user_errand){ &user, hang, NULL, -1 }, LIFE_MS), 0);
    user_child_kill(&child, LIFE_MS);
    assert_int_equal(waitid(P_PID, (id_t)child.process.pid, &dead, WEXITED | WNOHANG | WNOWAIT), 0);
    assert_int_equal(dead.si_pid, child.process.pid);
    user_child_end(&child);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    user_child_kill(&child, LIFE_MS);
}

/* A child that hangs in the kernel is moved out of the step's cgroup. */
static int unkillable;
static pid_t moved;
int kill(pid_t pid, int number)
{
    return unkillable ? 0 : (int)syscall(SYS_kill, pid, number);
}
void cgroup_leave_step(pid_t pid)
{
    moved = pid;
}

TEST(test_stuck)
{
    struct nuioa_user user = whom();
    struct user_child child = USER_CHILD_NONE;
    assert_int_equal(
        user_child_start(&child, &(struct user_errand){ &user, hang, NULL, -1 }, LIFE_MS), 0);
    pid_t pid = child.process.pid;
    unkillable = 1;
    user_child_end(&child);
    unkillable = 0;
    assert_int_equal(moved, pid);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A child that cannot become the user says nothing. */
TEST(test_no_user)
{
    struct nuioa_user user = { getuid() ? getuid() + 1 : 0, getgid(), groups, 1 };
    struct user_child child = USER_CHILD_NONE;
    size_t more = 0, length = 1;
    void *bytes = NULL;
    assert_int_equal(
        user_child_start(&child, &(struct user_errand){ &user, tell, &more, -1 }, LIFE_MS), 0);
    assert_int_equal(user_child_read(&child, LIFE_MS, 4096, &bytes, &length), 0);
    assert_int_equal(length, 0);
    free(bytes);
    user_child_end(&child);
}
