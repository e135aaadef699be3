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

/* A node's side of the rendezvous (wire.h), in slurmstepd.
 *
 * The calls are made in this order, by one thread: client_call(), client_receive_slice() if a
 * slice is wanted, client_send_record(), client_receive_table(), client_close(). Together they
 * wait at most client_call.timeout_ms; time that the caller spends between them does not count.
 * After an error the connection is closed, and *err says why there is no table. */

struct client_call {
    const char *address; /* srun's numeric IPv4 or IPv6 address; no names are resolved */
    const char *srun;    /* the token: the value of WIRE_VARIABLE */
    /* This node has auth=munge, and does not call an srun with auth=key. */
    bool munge;
    const char *socket; /* munged's, "" the default one; used if srun has auth=munge */
    uid_t uid;          /* the job's user */
    gid_t gid;
    unsigned timeout_ms;
    uint32_t job_id, step_id;
    uint32_t node, node_count; /* position in the step, from 0; number of nodes */
    uint32_t task_count;       /* on this node */
    uint32_t leader;           /* if nothing can change it any more; else WIRE_NO_RANK */
    const uint32_t *ranks;     /* [task_count], to ask for a slice; NULL: none is wanted */
    /* Called ten times a second while waiting; true ends the waiting, now and later. NULL:
     * never. */
    bool (*is_over)(void *arg);
    void *arg;
};

struct client {
    int fd; /* -1: not connected */
    /* with auth=munge: makes the credential and sends it; until its result is known */
    struct nuioa_subprocess hello_process;
    int64_t left_us; /* the rest of the time for waiting */
    bool (*is_over)(void *arg);
    void *arg;
    bool told_no_credential; /* srun was told that this node has no credential */
    bool authenticated;      /* srun has answered with a right tag */
    uint32_t job_id, step_id, node, node_count, task_count;
    uint32_t early_leader;         /* sent in the hello; WIRE_NO_RANK: none */
    struct hmac_key step, session; /* keys of the first message, and of all others */
};

#define CLIENT_NONE \
    { \
        .fd = -1 \
    }

/* Connects and sends the hello. With auth=munge a child process makes the credential and sends it;
 * the next function waits for the child and returns its error. Returns 0, or negative with *err. */
int client_call(struct client *g, const struct client_call *call, struct nuioa_error *err);

/* Waits for this node's slice of the profile. Returns 1 with weights[task_count] and
 * (*pairs)[*pair_count] (malloc'd, caller frees); 0 if srun has none; or negative with *err. */
int client_receive_slice(struct client *g, double *weights, struct nuioa_pair **pairs,
                         uint32_t *pair_count, struct nuioa_error *err);

/* Sends the record, after setting its table_timeout_ms. Returns 0, or negative with *err. */
int client_send_record(struct client *g, struct wire_record *record, size_t length,
                       struct nuioa_error *err);

/* Waits for the table after client_send_record(). `leader` is this node's, WIRE_NO_RANK: none. A
 * table with another leader for this node is refused; if the hello named an early leader, that one
 * counts. Returns 1 with leaders[node_count]; 0 if some node has no leader, so that there is no
 * table; or negative with *err. */
int client_receive_table(struct client *g, uint32_t leader, uint32_t *leaders,
                         struct nuioa_error *err);

/* Returns true if the answer that client_receive_table() waits for has begun to arrive. It does not
 * wait. */
bool client_is_answered(const struct client *g);

/* Shuts the connection down, for all processes that hold a copy of it, and ends the child that
 * sends the hello, if it still runs. A second call does nothing. */
void client_close(struct client *g);

#endif
