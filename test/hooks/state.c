/* SPDX-License-Identifier: BSD-3-Clause */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a child that was killed may take to end. */
#define KILLED_MS 5000

void state_read(struct state *s)
{
    memset(s, 0, sizeof(*s));
    for (int fd = 0; fd < STATE_FDS; fd++) {
        int flags = fcntl(fd, F_GETFD);
        s->fds[fd] = (char)(flags < 0 ? 0 : flags & FD_CLOEXEC ? 2 : 1);
    }
    umask(s->umask = umask(0));
    if (!getcwd(s->cwd, sizeof(s->cwd)))
        *s->cwd = '\0';
    getresuid(&s->uid[0], &s->uid[1], &s->uid[2]);
    getresgid(&s->gid[0], &s->gid[1], &s->gid[2]);
    sigprocmask(SIG_SETMASK, NULL, &s->blocked);
    for (int number = 1; number < NSIG; number++)
        sigaction(number, NULL, &s->actions[number]);
    getitimer(ITIMER_REAL, &s->timer);
    sched_getaffinity(0, sizeof(s->cpus), &s->cpus);
}

static void add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

static void compare_signals(const struct state *before, const struct state *now, char *text,
                            size_t size)
{
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&before->blocked, number) != sigismember(&now->blocked, number))
            add(text, size, "signal %d is blocked otherwise; ", number);
        if (before->actions[number].sa_handler != now->actions[number].sa_handler)
            add(text, size, "signal %d is handled otherwise; ", number);
    }
}

/* A child that was killed may take a moment to end, on a busy machine, and its parent does not wait
 * that long. Returns what waitpid() does of other children. */
static pid_t wait_for_killed(void)
{
    pid_t child;
    int status = 0;
    for (int tries = 0; (child = waitpid(-1, &status, WNOHANG)) >= 0; tries += !child) {
        if (child ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL : tries == KILLED_MS)
            return child;
        if (!child)
            usleep(1000);
    }
    return child;
}

static void compare(const struct state *before, bool task, char *text, size_t size)
{
    static struct state now;
    state_read(&now);
    for (int fd = 0; fd < STATE_FDS; fd++)
        if (task ? now.fds[fd] == 1 && !before->fds[fd] : now.fds[fd] != before->fds[fd])
            add(text, size, "descriptor %d is %s; ", fd, now.fds[fd] ? "left open" : "closed");
    if (now.umask != before->umask)
        add(text, size, "umask is %03o; ", (unsigned)now.umask);
    if (strcmp(now.cwd, before->cwd))
        add(text, size, "the directory is %s; ", now.cwd);
    if (!task && (memcmp(now.uid, before->uid, sizeof(now.uid)) ||
                  memcmp(now.gid, before->gid, sizeof(now.gid))))
        add(text, size, "the user is %u; ", (unsigned)now.uid[1]);
    if (!task && !CPU_EQUAL(&now.cpus, &before->cpus))
        add(text, size, "it is bound otherwise; ");
    if (!now.timer.it_value.tv_sec != !before->timer.it_value.tv_sec)
        add(text, size, "a timer is left; ");
    compare_signals(before, &now, text, size);
    pid_t child = wait_for_killed();
    if (child >= 0 || errno != ECHILD)
        add(text, size, "child %d is left; ", (int)child);
}

void state_compare(const struct state *before, char *text, size_t size)
{
    compare(before, false, text, size);
}

void state_compare_task(const struct state *before, char *text, size_t size)
{
    compare(before, true, text, size);
}
