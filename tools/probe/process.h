/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_PROCESS_H
#define NUIOA_TOOL_PROBE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/probe/benchmark.h"
#include "topology/node.h"
#include "util/subprocess.h"

/* What comes out of a pipe. */
struct probe_stream {
    int fd;
    bool closed; /* nothing more comes */
    char *text;  /* the beginning, a text */
    size_t length;
};

/* An end of a benchmark that runs on this node, server or client: a process whose CPUs and memory
 * are on one NUMA node, and what it prints. Nothing that it starts outlives probe_process_stop and
 * probe_kill_children (listening.h): it is a process group, and what leaves that becomes a child of
 * this process, which is made the reaper of its descendants.
 *
 * The caller sets the members down to `limit_s`, `child` to NUIOA_SUBPROCESS_NONE, and the others
 * to zero. Texts and pointers stay the caller's. */
struct probe_process {
    const char *role; /* "server" or "client", for messages */
    const struct nuioa_node *node;
    const struct probe_benchmark *benchmark;
    uint32_t numa; /* index into node->numas */
    struct probe_words words;
    unsigned limit_s; /* seconds that a run may take */
    struct nuioa_subprocess child;
    pid_t pid;                    /* 0: not started */
    struct probe_stream out, err; /* its standard output and error, which it fills in any order */
    int err_end;                  /* where the child writes its errors */
    siginfo_t status;             /* si_pid is 0 while it runs */
};

/* Takes SIGINT, SIGTERM and SIGHUP, so that waits end early and children are ended first, and makes
 * this process the reaper of its descendants. */
void probe_processes_begin(void);

/* Gives the signals back, and sends the one that came meanwhile, if one did. */
void probe_processes_end(void);

/* Returns the number of the signal that came since probe_processes_begin, or 0. */
int probe_processes_stopped(void);

/* The functions that return int return 0, or a negative errno and *err says in one line what
 * happened, with the last line that the process has printed: -EINTR if a signal asked to stop,
 * -ETIMEDOUT if it took too long. */

/* Starts it. The caller calls probe_process_stop in every case. */
int probe_process_start(struct probe_process *p, struct nuioa_error *err);

/* Waits until a server listens, for at most ten seconds, or `limit_s` if that is less. */
int probe_process_await_server(struct probe_process *server, struct nuioa_error *err);

/* Waits until a client has ended, and with status 0, for at most `limit_s`; meanwhile output of
 * `server` is taken, which is NULL if that runs elsewhere. */
int probe_process_await_client(struct probe_process *client, struct probe_process *server,
                               struct nuioa_error *err);

/* Finds the number in what a client has printed, in MB/s or nanoseconds. */
int probe_process_number(const struct probe_process *client, double *number,
                         struct nuioa_error *err);

/* Waits half a second for a server to end by itself, since its client has ended. */
void probe_process_linger(struct probe_process *server);

/* Takes what it prints within `nap_ms` milliseconds. */
void probe_process_wait(struct probe_process *p, int nap_ms);

/* Returns true if it has ended; it is not reaped. */
bool probe_process_has_ended(struct probe_process *p);

/* Says in *err how it ended. Returns -EIO, always. */
int probe_process_blame(const struct probe_process *p, struct nuioa_error *err);

/* Kills its process group, if it was started, and frees its output. */
void probe_process_stop(struct probe_process *p);

#endif
