/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_CLIENT_H
#define SPANK_RENDEZVOUS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mapping/mapping.h"
#include "spank/rendezvous/sha256.h"
#include "spank/rendezvous/wire.h"
#include "util/error.h"
#include "util/subprocess.h"

/* A node's side of the rendezvous (wire.h), in slurmstepd. Nothing here blocks but for the time
 * that client_call() was given, over all functions together: it is time spent waiting that counts,
 * so a slow start of other things takes nothing from it. */

struct client_call {
    const char *address; /* of srun: IPv4 or IPv6, in numbers; no name is resolved */
    const char *srun;    /* what WIRE_VARIABLE says */
    /* this node says auth=munge: srun is not called where it says another one */
    bool munge;
    const char *socket; /* munged's, "" the default; if srun wants a sealed hello */
    uid_t uid;          /* the job's user */
    gid_t gid;
    unsigned timeout_ms;
    uint32_t job_id, step_id;
    uint32_t node, node_count; /* of the step */
    uint32_t task_count;
    uint32_t leader;       /* if it is sure already, else WIRE_NO_RANK */
    const uint32_t *ranks; /* [task_count]: to ask for a slice; NULL: none is wanted */
    /* asked ten times a second while waiting: whether to wait no more; NULL: never */
    bool (*is_over)(void *arg);
    void *arg;
};

struct client {
    int fd; /* -1: not connected */
    struct nuioa_subprocess
        hello_process; /* seals and sends the hello; until its result is known */
    int64_t left_us;   /* of the time to wait */
    bool (*is_over)(void *arg);
    void *arg;
    bool told;  /* srun has been told that this node has no credential */
    bool known; /* srun has answered, and it is srun */
    uint32_t job_id, step_id, node, node_count, task_count;
    uint32_t early_leader;         /* leader, WIRE_NO_RANK: none */
    struct hmac_key step, session; /* of what is said first, and of all else */
};

#define CLIENT_NONE \
    { \
        .fd = -1 \
    }

/* Connects and says hello. A hello that is to be sealed is left to a child process, for which
 * nobody waits here: how it went is known when something is expected of srun. 0, or negative with
 * *err: no gathering. To be called, as the others, by one thread. */
int client_call(struct client *g, const struct client_call *call, struct nuioa_error *err);

/* Waits for this node's slice of the profile: weights[task_count], and *pairs (malloc'd, caller
 * frees). 1; 0: srun has none; or negative with *err. */
int client_slice(struct client *g, double *weights, struct nuioa_pair **pairs, uint32_t *pair_count,
                 struct nuioa_error *err);

/* Sends the record; fills in its table_timeout_ms. 0, or negative with *err. */
int client_tell(struct client *g, struct wire_record *record, size_t length,
                struct nuioa_error *err);

/* After that: waits for the table. 1 and leaders[node_count]; 0: all went well, but there is no
 * table, since some node has no leader; or negative with *err. `leader`: this node's, WIRE_NO_RANK
 * if none: a table that says otherwise, or breaks the promise, is refused. */
int client_await(struct client *g, uint32_t leader, uint32_t *leaders, struct nuioa_error *err);

/* Whether client_await() has something to read. */
bool client_is_answered(const struct client *g);

/* Ends the connection for all processes that hold it, and the call if it is still being made. */
void client_hang_up(struct client *g);

#endif
