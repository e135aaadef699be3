/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_MUNGE_WORKER_H
#define SPANK_RENDEZVOUS_MUNGE_WORKER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A child process of srun that decodes MUNGE credentials, one at a time. The parent never waits for
 * munged and can end the child whatever munged does. One thread of the parent makes all calls. */

/* The largest size in bytes of a credential, and of its content. */
#define MUNGE_WORKER_BYTES_MAX (64u << 10)

struct munge_worker {
    pid_t pid; /* 0: none */
    int fd;    /* socket to the child, readable when it has an answer; -1: none */
};

struct munge_answer {
    int rc;          /* as credential_decode() returns */
    uid_t uid;       /* whose credential it is */
    uint32_t length; /* number of bytes in `bytes`: the content of the credential */
    char error[256]; /* the reason, if rc is negative */
    char bytes[MUNGE_WORKER_BYTES_MAX];
};

/* Forks the child, which also ends when the calling thread does. `socket` is the path of munged's
 * socket, "" for the default one. Returns 0 and *worker, which munge_worker_stop() ends; or -errno,
 * and *worker has no child, which munge_worker_stop() accepts too. */
int munge_worker_start(struct munge_worker *worker, const char *socket);

/* Closes the socket, so that the child ends by itself after its present work. munge_worker_stop()
 * must still be called. */
void munge_worker_close(struct munge_worker *worker);

/* Closes the socket, kills the child by SIGKILL and reaps it. Then *worker has no child. A second
 * call does nothing. */
void munge_worker_stop(struct munge_worker *worker);

/* Sends the child a credential of `length` bytes, at most MUNGE_WORKER_BYTES_MAX. The child must
 * not have another one that is not answered. Returns 0, or -errno if the child has ended. */
int munge_worker_ask(const struct munge_worker *worker, const char *credential, size_t length);

/* Reads the answer to munge_worker_ask() into *answer. It waits for it, so the caller first polls
 * worker->fd. Returns 0, whether the credential was good or not (answer->rc), or -errno if the
 * child has ended. */
int munge_worker_answer(const struct munge_worker *worker, struct munge_answer *answer);

#endif
