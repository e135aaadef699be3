/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_HOOKS_STATE_H
#define TEST_HOOKS_STATE_H

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/time.h>

/* What the hooks must leave as they find it in a process of Slurm's. */

#define STATE_FDS 1024

struct state {
    char fds[STATE_FDS]; /* 0: closed; 1: open; 2: open, and closed by exec */
    mode_t umask;
    char cwd[PATH_MAX];
    uid_t uid[3];
    gid_t gid[3];
    sigset_t blocked;
    struct sigaction actions[NSIG];
    struct itimerval timer;
    cpu_set_t cpus;
};

void state_read(struct state *state);

/* Appends what is different now, and which children there are, as a line of text. */
void state_compare(const struct state *before, char *text, size_t size);

/* The same for a task, before exec: only descriptors that exec does not close count. */
void state_compare_task(const struct state *before, char *text, size_t size);

#endif
