/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_CLIENT_H
#define SPANK_RENDEZVOUS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mapping/mapping.h"
#include "spank/rendezvous/deadline.h"
#include "spank/rendezvous/sha256.h"
#include "spank/rendezvous/wire.h"
#include "util/error.h"
#include "util/subprocess.h"

/* A node's side of the rendezvous (wire.h), in slurmstepd.
 *
 * The calls are made in this order, by one thread: client_call(), client_receive_slice() if a slice
 * is wanted, client_send_record(), client_receive_welcome() if the caller must know whether srun
 * answers, client_close(). Together they
 * wait at most client_call.timeout_ms; time that the caller spends between them does not count.
 * After an error the connection is closed, and *err says why. The errors are -ETIMEDOUT if the time
 * is over, -EINTR if is_over() has ended the waiting, -ECONNRESET if srun has closed the
 * connection, -EBADMSG if a message has a wrong tag, -EPROTO or -EINVAL if it has a wrong form,
 * -ENOMEM, and others of the kernel. */

/* The input of client_call(). It keeps no pointer to the texts and ranks after it returns,
 * but calls is_over(arg) until client_close(). */
struct client_call {
    const char *address; /* srun's numeric IPv4 or IPv6 address; no names are resolved */
    const char *srun;    /* the token: the value of WIRE_VARIABLE */
    bool munge;          /* this node has auth=munge, and does not call an srun with auth=key */
    const char *socket;  /* munged's, "" the default one; used if srun has auth=munge */
    uid_t uid;           /* the job's user */
    gid_t gid;           /* the group of the job's user */
    unsigned timeout_ms; /* how long all calls together may wait */
    uint32_t job_id, step_id;  /* of the leading component in a heterogeneous job */
    uint32_t node, node_count; /* position in the step, from 0; number of nodes */
    uint32_t task_count;       /* number of tasks on this node */
    const uint32_t *ranks;     /* [task_count], by local rank, to ask for a slice; NULL: no slice */
    bool (*is_over)(void *arg); /* as in struct deadline */
    void *arg;
};

/* The connection of a node. Callers may read the deadline, told_no_credential and authenticated;
 * the rest is for client.c only. */
struct client {
    int fd; /* -1: not connected */
    /* The child process that, with auth=munge, makes the credential and sends it. */
    struct nuioa_subprocess hello_process;
    struct deadline deadline;      /* for all that it waits for */
    bool told_no_credential;       /* srun knows of no credential here */
    bool authenticated;            /* srun has answered with a right tag */
    uint32_t task_count;           /* as in struct client_call */
    struct hmac_key step, session; /* keys of the first message, and of all others */
};

/* A client that is not connected: client_close() and client_is_answered() accept it. */
#define CLIENT_NONE \
    { \
        .fd = -1 \
    }

/* Fills *g, connects to srun and sends the hello. With auth=munge a child process makes the
 * credential and sends it; the next function waits for the child and returns its error. Returns 0;
 * or negative with *err, also -EINVAL or -EPROTONOSUPPORT if the token is wrong or of another
 * version, and -EACCES if srun has auth=key and this node auth=munge. The caller calls
 * client_close() in any case. */
int client_call(struct client *g, const struct client_call *call, struct nuioa_error *err);

/* Waits for this node's slice of the profile. Returns 1, and fills weights[task_count], which the
 * caller allocated, and (*pairs)[*pair_count] (malloc'd, caller frees), where a pair is of local
 * ranks and in bytes; 0 if srun has none; or negative with *err. If it does not return 1, *pairs is
 * NULL and `weights` undefined. */
int client_receive_slice(struct client *g, double *weights, struct nuioa_pair **pairs,
                         uint32_t *pair_count, struct nuioa_error *err);

/* Sends the record of `length` bytes that record_make() has made. It stays the caller's. Returns 0,
 * or negative with *err: -ECONNRESET also if srun has reported already, without this node. */
int client_send_record(struct client *g, const struct wire_record *record, size_t length,
                       struct nuioa_error *err);

/* After client_send_record(): waits for WELCOME, unless client_receive_slice() has read it: then
 * srun has answered, and had not hung up before the record was sent. Closes the connection. Returns
 * 0, or negative with *err. */
int client_receive_welcome(struct client *g, struct nuioa_error *err);

/* Returns true if WELCOME has been read, or has begun to arrive. It does not wait. */
bool client_is_answered(const struct client *g);

/* Shuts the connection down, for all processes that hold a copy of it, ends the child that sends
 * the hello, if it still runs, and clears the keys. The struct itself belongs to the caller. A
 * second call does nothing. */
void client_close(struct client *g);

#endif
