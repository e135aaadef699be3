#ifndef SPANK_RENDEZVOUS_MUNGE_WORKER_H
#define SPANK_RENDEZVOUS_MUNGE_WORKER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A child process that opens credentials, one at a time, so that who asks never waits for munged and can
 * get rid of it whatever munged does. */

#define OPENER_BYTES_MAX (64u << 10) /* of a credential and of what is in it */

struct opener {
    pid_t pid; /* 0: none */
    int fd;    /* -1: none; readable when an answer is there */
};

struct opened {
    int rc; /* as seal_open */
    uid_t uid;
    uint32_t length;
    char error[256];
    char bytes[OPENER_BYTES_MAX];
};

/* The child ends with the thread that calls this. 0 or -errno. */
int opener_start(struct opener *opener, const char *socket);

/* Lets it end by itself; to be reaped by opener_stop all the same. */
void opener_dismiss(struct opener *opener);

/* Kills and reaps it. */
void opener_stop(struct opener *opener);

/* Hands a credential over: 0, or -errno if the child is gone. */
int opener_ask(const struct opener *opener, const char *credential, size_t length);

/* Takes an answer; waits for it. 0, or -errno if the child is gone. */
int opener_answer(const struct opener *opener, struct opened *opened);

#endif
