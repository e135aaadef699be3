#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int nuioa_child_write(int fd, const void *bytes, size_t length)
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

static void close_all_but(int fd)
{
#ifdef SYS_close_range
    if (fd > 3)
        syscall(SYS_close_range, 3u, (unsigned)fd - 1, 0u);
    syscall(SYS_close_range, (unsigned)fd + 1, UINT_MAX, 0u);
#else
    (void)fd;
#endif
}

static _Noreturn void be_child(void (*work)(int, void *), void *arg, int fd, pid_t parent)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* fails for those that cannot be caught, which is as well */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close_all_but(fd);
    work(fd, arg);
    _exit(0);
}

/* Only while the child is still ours: a number that someone else has reaped may be anyone's. */
static void kill_and_reap(pid_t pid)
{
    struct timespec nap = {.tv_nsec = 1000000};
    pid_t got = waitpid(pid, NULL, WNOHANG);
    if (got == 0)
        kill(pid, SIGKILL);
    for (int i = 0; i < 500; i++) { /* half a second: a busy machine, not a child stuck in the kernel */
        got = waitpid(pid, NULL, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR))
            return;
        nanosleep(&nap, NULL);
    }
}

/* Until the end, the deadline or an error. */
static int collect(int fd, int64_t end_ms, size_t max, char **bytes, size_t *length)
{
    size_t size = 0;
    for (;;) {
        int64_t left = end_ms - now_ms();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int ready = left <= 0 ? 0 : poll(&wait, 1, left > INT_MAX ? INT_MAX : (int)left);
        if (ready == 0)
            return -ETIMEDOUT;
        if (ready < 0 && errno == EINTR)
            continue;
        if (*length > max)
            return -EFBIG;
        if (*length == size) {
            size = size ? size * 2 : 64 << 10;
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

int nuioa_child_run(void (*work)(int fd, void *arg), void *arg, unsigned deadline_ms, size_t max,
                    void **bytes, size_t *length)
{
    int ends[2];
    sigset_t all, before;
    int64_t end_ms = now_ms() + deadline_ms;
    char *got = NULL;
    *length = 0;
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    /* No handler of the caller's may run in the child. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        be_child(work, arg, ends[1], parent);
    int rc = pid < 0 ? -errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (!rc)
        rc = collect(ends[0], end_ms, max, &got, length);
    close(ends[0]);
    if (pid > 0)
        kill_and_reap(pid);
    if (rc) {
        free(got);
        return rc;
    }
    *bytes = got;
    return 0;
}
