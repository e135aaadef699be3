/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel_without.h"
#include "leak_check.h"
#include "unit.h"
#include "util/subprocess.h"

enum { DEADLINE_MS = 30000, LIMIT_S = 60 }; /* they only end a hang */

static void hang(int fd, void *arg)
{
    (void)arg;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    nuioa_subprocess_write(fd, "x", 1);
    for (;;)
        pause();
}

static void talk(int fd, void *arg)
{
    char block[4096] = { 0 };
    for (size_t left = *(size_t *)arg; left;) {
        size_t now = left < sizeof(block) ? left : sizeof(block);
        if (nuioa_subprocess_write(fd, block, now))
            return;
        left -= now;
    }
}

static void crash(int fd, void *arg)
{
    (void)arg;
    nuioa_subprocess_write(fd, "abc", 3);
    raise(SIGKILL);
}

static void check_signals(int fd, void *arg)
{
    (void)arg;
    sigset_t blocked;
    struct sigaction action;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigaction(SIGUSR1, NULL, &action);
    bool good = !sigismember(&blocked, SIGUSR2) && action.sa_handler == SIG_DFL;
    nuioa_subprocess_write(fd, good ? "good" : "bad", good ? 4 : 3);
}

static void wait_long(int fd, void *arg)
{
    (void)fd, (void)arg;
    for (;;)
        pause();
}

static void use_kept(int fd, void *arg)
{
    const int *fds = arg;
    if (write(fds[0], "k", 1) != 1)
        return;
    for (int i = 1; i < 4; i++)
        nuioa_subprocess_write(fd, fcntl(fds[i], F_GETFD) < 0 ? "c" : "o", 1);
}

/* Says all, closes its pipe, and hangs. */
static void talk_and_hang(int fd, void *arg)
{
    nuioa_subprocess_write(fd, "abc", 3);
    close(fd);
    wait_long(-1, arg);
}

/* --- a child that hangs in the kernel --------------------------------------------------------- */

static volatile sig_atomic_t unkillable;

/* In the place of the C library's. */
int kill(pid_t pid, int number)
{
    return unkillable ? 0 : (int)syscall(SYS_kill, pid, number);
}

static volatile pid_t hanging;

static void end_hang(int number)
{
    (void)number;
    unkillable = 0;
    kill(hanging, SIGKILL);
}

/* The caller has what the child said, and is not held. */
TEST(test_child_hangs_in_kernel)
{
    struct nuioa_subprocess child;
    struct sigaction action = { .sa_handler = end_hang }, old;
    struct leak_check before = leak_check_begin();
    void *bytes;
    size_t length;
    sigaction(SIGALRM, &action, &old);
    assert_int_equal(nuioa_subprocess_start(&child, talk_and_hang, NULL, -1, 2000 * LIMIT_S), 0);
    hanging = child.pid;
    unkillable = 1;
    alarm(LIMIT_S);
    assert_int_equal(nuioa_subprocess_read(&child, DEADLINE_MS, 10, &bytes, &length), 0);
    nuioa_subprocess_end(&child);
    assert_true(unkillable);
    alarm(0);
    assert_int_equal(length, 3);
    assert_memory_equal(bytes, "abc", 3);
    free(bytes);
    assert_int_equal(child.pid, 0);
    assert_int_equal(waitpid(hanging, NULL, WNOHANG), 0);
    end_hang(SIGALRM);
    assert_int_equal(waitpid(hanging, NULL, 0), hanging);
    sigaction(SIGALRM, &old, NULL);
    leak_check_end(&before);
}

/* ---------------------------------------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

TEST(test_child_hangs)
{
    void *bytes = NULL;
    size_t length;
    struct leak_check before = leak_check_begin();
    double start = now_ms();
    assert_int_equal(nuioa_subprocess_run(hang, NULL, 100, 1000, &bytes, &length), -ETIMEDOUT);
    assert_true(now_ms() - start >= 99 && now_ms() - start < LIMIT_S * 1e3);
    leak_check_end(&before);
}

TEST(test_child_output)
{
    void *bytes;
    size_t length, size = 300000;
    struct leak_check before = leak_check_begin();
    assert_int_equal(nuioa_subprocess_run(talk, &size, DEADLINE_MS, size, &bytes, &length), 0);
    assert_int_equal(length, size);
    free(bytes);
    assert_int_equal(nuioa_subprocess_run(talk, &size, DEADLINE_MS, size - 1, &bytes, &length),
                     -EFBIG);
    size = 0;
    assert_int_equal(nuioa_subprocess_run(talk, &size, DEADLINE_MS, 10, &bytes, &length), 0);
    assert_int_equal(length, 0);
    free(bytes);
    assert_int_equal(nuioa_subprocess_run(crash, NULL, DEADLINE_MS, 10, &bytes, &length), 0);
    assert_int_equal(length, 3);
    free(bytes);
    leak_check_end(&before);
}

static void interrupted(int number)
{
    (void)number;
}

/* The caller's handlers, mask, and signals that arrive meanwhile. */
TEST(test_child_signals)
{
    struct sigaction action = { .sa_handler = interrupted }, old_usr1, old_alarm;
    sigset_t mask, old;
    void *bytes;
    size_t length;
    sigaction(SIGUSR1, &action, &old_usr1);
    sigaction(SIGALRM, &action, &old_alarm);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigprocmask(SIG_BLOCK, &mask, &old);
    struct leak_check before = leak_check_begin();
    assert_int_equal(nuioa_subprocess_run(check_signals, NULL, DEADLINE_MS, 10, &bytes, &length),
                     0);
    assert_int_equal(length, 4);
    free(bytes);
    ualarm(10000, 5000);
    assert_int_equal(nuioa_subprocess_run(hang, NULL, 60, 10, &bytes, &length), -ETIMEDOUT);
    ualarm(0, 0);
    leak_check_end(&before);
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGUSR1, &old_usr1, NULL);
    sigaction(SIGALRM, &old_alarm, NULL);
}

/* A caller that ignores SIGCHLD never sees its children end. */
TEST(test_child_unseen)
{
    void *bytes;
    size_t length, size = 5;
    struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
    sigaction(SIGCHLD, &ignore, &old);
    assert_int_equal(nuioa_subprocess_run(talk, &size, DEADLINE_MS, 10, &bytes, &length), 0);
    assert_int_equal(length, 5);
    free(bytes);
    sigaction(SIGCHLD, &old, NULL);
}

/* Nobody comes to end it: a child that hangs, and its parent's parent is not told of it. */
TEST(test_child_life)
{
    struct nuioa_subprocess child;
    struct leak_check before = leak_check_begin();
    siginfo_t end;
    assert_int_equal(nuioa_subprocess_start(&child, wait_long, NULL, -1, 50), 0);
    assert_int_equal(waitid(P_PID, (id_t)child.pid, &end, WEXITED | WNOWAIT), 0);
    assert_int_equal(end.si_code, CLD_KILLED);
    assert_int_equal(end.si_status, SIGALRM);
    nuioa_subprocess_end(&child);
    nuioa_subprocess_end(&child); /* there is none now */
    leak_check_end(&before);
}

static void wait_for_parent(int fd, void *arg)
{
    (void)arg;
    nuioa_subprocess_write(fd, "", 1);
    poll(&(struct pollfd){ .fd = fd }, 1, -1);
}

/* The end of the pipe ends a child that looks for it, without a limit of life. */
TEST(test_child_finishes)
{
    struct nuioa_subprocess child;
    struct leak_check before = leak_check_begin();
    assert_int_equal(nuioa_subprocess_start(&child, wait_for_parent, NULL, -1, 0), 0);
    assert_true(nuioa_subprocess_finish(&child, DEADLINE_MS));
    assert_true(nuioa_subprocess_finish(&child, DEADLINE_MS)); /* there is none now */
    assert_int_equal(nuioa_subprocess_start(&child, wait_long, NULL, -1, 0), 0);
    assert_false(nuioa_subprocess_finish(&child, 1));
    leak_check_end(&before);
}

TEST(test_child_keeps)
{
    int ends[2], other[2], lowest = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct nuioa_subprocess child;
    void *bytes;
    size_t length;
    char got = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC) | pipe2(other, O_CLOEXEC), 0);
    int high = fcntl(lowest, F_DUPFD_CLOEXEC, 200); /* above the pipe to the child */
    int fds[] = { ends[1], other[1], lowest, high };
    assert_int_equal(nuioa_subprocess_start(&child, use_kept, fds, ends[1], DEADLINE_MS), 0);
    assert_int_equal(nuioa_subprocess_read(&child, DEADLINE_MS, 10, &bytes, &length), 0);
    nuioa_subprocess_end(&child);
    assert_int_equal(length, 3);
    assert_memory_equal(bytes, "ccc", 3); /* what it was not to keep */
    free(bytes);
    assert_int_equal(read(ends[0], &got, 1), 1);
    assert_int_equal(got, 'k');
    for (int i = 0; i < 2; i++)
        close(ends[i]), close(other[i]);
    close(lowest);
    close(high);
}

#ifndef SYS_close_range
#define SYS_close_range 436 /* lib/util/descriptors.c */
#endif

/* The last test, because the call never comes back. */
TEST(test_kernel_without_close_range)
{
    if (kernel_without(SYS_close_range))
        skip();
    assert_int_equal(syscall(SYS_close_range, 1000u, 1000u, 0u), -1);
    test_child_keeps(state);
}
