/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_MUNGE_WORKER_H
#define SPANK_RENDEZVOUS_MUNGE_WORKER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A child process that opens credentials, one at a time, so that who asks never waits for munged
 * and can get rid of it whatever munged does. */

#define MUNGE_WORKER_BYTES_MAX (64u << 10) /* of a credential and of what is in it */

struct munge_worker {
    pid_t pid; /* 0: none */
    int fd;    /* -1: none; readable when an answer is there */
};

struct munge_answer {
    int rc; /* as seal_open */
    uid_t uid;
    uint32_t length;
    char error[256];
    char bytes[MUNGE_WORKER_BYTES_MAX];
};

/* The child ends with the thread that calls this. 0 or -errno. */
int munge_worker_start(struct munge_worker *worker, const char *socket);

/* Lets it end by itself; to be reaped by munge_worker_stop all the same. */
void munge_worker_close(struct munge_worker *worker);

/* Kills and reaps it. */
void munge_worker_stop(struct munge_worker *worker);

/* Hands a credential over: 0, or -errno if the child is gone. */
int munge_worker_ask(const struct munge_worker *worker, const char *credential, size_t length);

/* Takes an answer; waits for it. 0, or -errno if the child is gone. */
int munge_worker_answer(const struct munge_worker *worker, struct munge_answer *answer);

#endif
