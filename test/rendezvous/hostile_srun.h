/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_RENDEZVOUS_HOSTILE_SRUN_H
#define TEST_RENDEZVOUS_HOSTILE_SRUN_H

#include <stdbool.h>
#include <stddef.h>

#include "spank/rendezvous/wire.h"

/* A hostile srun: it reads the hello, knows the keys, and answers as one of the cases says. */

struct hostile_case {
    const char *name;
    const char *error; /* part of the node's error; NULL: any */
    bool wants_slice;
    bool stays_connected; /* sends no more, and closes after the node does */
    void (*answer)(int fd, const struct wire_hello *hello);
    /* The step is to end when the node has asked for it three times, long before its time is
     * over. */
    bool ends;
};

struct fake_srun {
    const char *text; /* the token */
    int listener;
    bool encrypted;
    const char *socket;
    const struct hostile_case *which;
    bool key_exposed; /* the node has sent the step's key */
};

extern const struct hostile_case hostile_cases[];
extern const size_t hostile_case_count;

/* Serves one node, then ends. A thread: `arg` is its struct fake_srun. Returns NULL. */
void *hostile_srun_run(void *arg);

#endif
