/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/user_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/stepd/cgroup.h"
#include "util/clock.h"

/* Headers of glibc before 2.31 have no numbers for these; all architectures of Linux but alpha have
 * the same ones. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

/* The rest of an answer that a child has begun to write may take so long. */
#define REST_MS 100

int user_child_user(spank_t spank, struct nuioa_user *user)
{
    gid_t *groups = NULL;
    int count = 0;
    *user = (struct nuioa_user){ 0 };
    if (spank_get_item(spank, S_JOB_UID, &user->uid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_GID, &user->gid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) != ESPANK_SUCCESS ||
        count < 0 || (count && !groups))
        return -ENODATA;
    user->groups = groups;
    user->group_count = count;
    return user->uid == 0 ? -EPERM : 0;
}

/* Nobody reads or writes through what slurmd has given slurmstepd. */
static void leave_standard_files(int fd, int keep)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int number = 0; number <= STDERR_FILENO; number++)
        if (number != fd && number != keep && number != null &&
            (null < 0 || dup2(null, number) < 0))
            close(number);
    if (null > STDERR_FILENO)
        close(null);
}

static void run(int fd, void *arg)
{
    const struct user_errand *errand = arg;
    const struct itimerval none = { { 0, 0 }, { 0, 0 } };
    leave_standard_files(fd, errand->keep);
    if (nuioa_become_user(errand->user) < 0)
        return;
    errand->work(fd, errand->arg);
    setitimer(ITIMER_REAL, &none, NULL);
    close(fd);
    for (;;)
        pause();
}

int user_child_start(struct user_child *child, struct user_errand *errand, unsigned life_ms)
{
    *child = (struct user_child){ NUIOA_SUBPROCESS_NONE, -1, nuioa_clock_ms() };
    int rc = nuioa_subprocess_start(&child->process, run, errand, errand->keep, life_ms);
    if (!rc)
        child->pidfd = (int)syscall(SYS_pidfd_open, child->process.pid, 0);
    return rc;
}

/* Returns true if the child has written, or has closed its end of the pipe. */
static bool has_begun(const struct user_child *child)
{
    struct pollfd answer = { .fd = child->process.fd, .events = POLLIN };
    return poll(&answer, 1, 0) > 0;
}

int user_child_read(struct user_child *child, unsigned limit_ms, size_t max, void **bytes,
                    size_t *length)
{
    int64_t left_ms = child->started_ms + limit_ms - nuioa_clock_ms();
    if (left_ms < REST_MS && has_begun(child))
        left_ms = REST_MS;
    return nuioa_subprocess_read(&child->process, left_ms > 0 ? (unsigned)left_ms : 0, max, bytes,
                                 length);
}

/* A pidfd is readable when its process is dead, whoever takes the status. Where slurmstepd has
 * taken it, the number of the child may belong to another process. */
void user_child_kill(const struct user_child *child, int wait_ms)
{
    struct pollfd death = { .fd = child->pidfd, .events = POLLIN };
    if (child->pidfd >= 0) {
        syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
        poll(&death, 1, wait_ms);
    } else if (child->process.pid > 0 && !waitpid(child->process.pid, NULL, WNOHANG)) {
        kill(child->process.pid, SIGKILL);
    }
}

void user_child_end(struct user_child *child)
{
    if (child->pidfd >= 0)
        close(child->pidfd);
    child->pidfd = -1;
    pid_t pid = child->process.pid;
    if (has_begun(child))
        nuioa_subprocess_end(&child->process);
    else if (!nuioa_subprocess_end_soon(&child->process))
        cgroup_leave_step(pid);
}
