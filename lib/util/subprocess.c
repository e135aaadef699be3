/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/descriptors.h"

int nuioa_subprocess_write(int fd, const void *bytes, size_t length)
{
    const char *from = bytes;
    while (length) {
        ssize_t done = write(fd, from, length);
        if (done < 0 && errno != EINTR)
            return -errno;
        from += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

/* Limits the life of the child, in case the parent never ends it. */
static void live_for(unsigned life_ms)
{
    struct itimerval life = { .it_value = { life_ms / 1000, life_ms % 1000 * 1000 } };
    setitimer(ITIMER_REAL, &life, NULL);
}

static _Noreturn void be_child(nuioa_subprocess_work *work, void *arg, int fd, int keep,
                               unsigned life_ms, pid_t parent)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    live_for(life_ms);
    for (int number = 1; number < NSIG; number++) /* fails for SIGKILL and SIGSTOP */
        signal(number, !life_ms && (number == SIGINT || number == SIGQUIT) ? SIG_IGN : SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    nuioa_close_all_but(fd, keep);
    work(fd, arg);
    _exit(0);
}

/* Returns false if the child is still there after so long. */
static bool reap(pid_t pid, unsigned wait_ms)
{
    struct timespec nap = { .tv_nsec = 20000 };
    for (int64_t end_ms = nuioa_clock_ms() + wait_ms;;) {
        pid_t got = waitpid(pid, NULL, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR))
            return true;
        if (nuioa_clock_ms() >= end_ms)
            return false;
        nanosleep(&nap, NULL);
        nap.tv_nsec = nap.tv_nsec < 500000 ? nap.tv_nsec * 2 : 1000000;
    }
}

/* Reads until the child closes the pipe, the deadline (on the monotonic clock), or an error. */
static int collect(int fd, int64_t end_ms, size_t max, char **bytes, size_t *length)
{
    size_t size = 0;
    for (;;) {
        int64_t left = end_ms - nuioa_clock_ms();
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        int ready = left <= 0 ? 0 : poll(&wait, 1, left > INT_MAX ? INT_MAX : (int)left);
        if (ready == 0)
            return -ETIMEDOUT;
        if (ready < 0 && errno == EINTR)
            continue;
        if (*length > max)
            return -EFBIG;
        if (*length == size) {
            size = size ? size * 2 : 4 << 10;
            char *more = realloc(*bytes, size);
            if (!more)
                return -ENOMEM;
            *bytes = more;
        }
        ssize_t got = ready < 0 ? -1 : read(fd, *bytes + *length, size - *length);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
        if (got == 0)
            return 0;
        *length += got > 0 ? (size_t)got : 0;
    }
}

int nuioa_subprocess_start(struct nuioa_subprocess *child, nuioa_subprocess_work *work, void *arg,
                           int keep, unsigned life_ms)
{
    int ends[2];
    sigset_t all, before;
    *child = (struct nuioa_subprocess)NUIOA_SUBPROCESS_NONE;
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    /* No signal handler of the caller may run in the child. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        be_child(work, arg, ends[1], keep, life_ms, parent);
    int rc = pid < 0 ? -errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (rc < 0)
        close(ends[0]);
    else
        *child = (struct nuioa_subprocess){ pid, ends[0] };
    return rc;
}

int nuioa_subprocess_read(const struct nuioa_subprocess *child, unsigned deadline_ms, size_t max,
                          void **bytes, size_t *length)
{
    char *got = NULL;
    *length = 0;
    int rc = collect(child->fd, nuioa_clock_ms() + deadline_ms, max, &got, length);
    if (rc)
        free(got);
    else
        *bytes = got;
    return rc;
}

/* Kills the child only while waitpid still knows it: if other code has reaped it already, its
 * process id may belong to another process. Returns true if it has ended by itself within
 * `wait_ms`, and sets *gone to false if it is still there `death_ms` after the kill. */
static bool end(struct nuioa_subprocess *child, unsigned wait_ms, unsigned death_ms, bool *gone)
{
    *gone = true;
    if (child->pid <= 0)
        return true;
    close(child->fd);
    bool ended = reap(child->pid, wait_ms);
    if (!ended) {
        kill(child->pid, SIGKILL);
        *gone = reap(child->pid, death_ms);
    }
    *child = (struct nuioa_subprocess)NUIOA_SUBPROCESS_NONE;
    return ended;
}

/* Half a second is enough on a busy machine: a child that lives longer hangs in the kernel. */
void nuioa_subprocess_end(struct nuioa_subprocess *child)
{
    bool gone;
    end(child, 0, 500, &gone);
}

bool nuioa_subprocess_end_soon(struct nuioa_subprocess *child)
{
    bool gone;
    end(child, 0, 20, &gone);
    return gone;
}

bool nuioa_subprocess_finish(struct nuioa_subprocess *child, unsigned wait_ms)
{
    bool gone;
    return end(child, wait_ms, 100, &gone);
}

int nuioa_subprocess_run(nuioa_subprocess_work *work, void *arg, unsigned deadline_ms, size_t max,
                         void **bytes, size_t *length)
{
    struct nuioa_subprocess child;
    *length = 0;
    /* The child may live longer than the deadline, so that a late one is -ETIMEDOUT and not 0. */
    int rc = nuioa_subprocess_start(&child, work, arg, -1, deadline_ms + 1000);
    if (rc < 0)
        return rc;
    rc = nuioa_subprocess_read(&child, deadline_ms, max, bytes, length);
    nuioa_subprocess_end(&child);
    return rc;
}
