/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_SERVER_H
#define SPANK_RENDEZVOUS_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spank/rendezvous/record.h"
#include "spank/rendezvous/wire.h"
#include "util/error.h"

/* srun's side of the rendezvous (wire.h): a listener for one step, and a thread that serves it.
 *
 * A server is used in this order: server_open(), server_expect(), server_start(), server_wait() or
 * server_stop(), server_close(). One thread of srun calls all of them. */

/* Limits for unauthenticated peers: their number, and their time in milliseconds. At the limit a
 * new peer replaces the one that has been silent longest. */
#define SERVER_UNAUTHENTICATED_MAX 64
#define SERVER_UNAUTHENTICATED_MS 1000

struct server_config {
    bool encrypted;     /* auth=munge: hellos are encrypted */
    uid_t uid;          /* with auth=munge: credentials of this user, our own, are accepted */
    const char *socket; /* with auth=munge: munged's socket, "" the default one */
    /* How long nodes are still waited for after a node had no credential or munged failed. */
    unsigned timeout_ms;
    bool every_record;  /* a report needs all records; else a node may send none */
    unsigned accept_ms; /* how long connections are accepted; 0: while the server runs */
    uint16_t port_first, port_last; /* 0: any */

    /* The server's thread calls these functions; their arguments are valid during the call. */
    void *arg;
    /* Takes a warning for the user, one line. */
    void (*warn)(void *arg, const char *text);
    /* Returns the body of WELCOME for a node that runs ranks[count]: malloc'd, the thread frees;
     * NULL: no slice. NULL instead of the function: there are no slices. */
    void *(*slice)(void *arg, const uint32_t *ranks, uint32_t count, size_t *length);
    /* `record` takes each record as it arrives. Then `finish` is called once, when all records that
     * can still arrive are there and the nodes have their table. */
    void (*record)(void *arg, const struct record *record);
    void (*finish)(void *arg);
};

/* Counters, for tests. */
struct server_counts {
    uint32_t nodes;                /* of the step; 0: not known yet */
    uint32_t hellos, records;      /* accepted */
    uint32_t tables;               /* 1: the table was sent */
    uint32_t refused;              /* unauthenticated peers whose connection was closed */
    uint32_t unauthenticated_most; /* at one time */
};

struct server;

/* Opens the listener, for IPv6 and IPv4 where both exist, and makes the step's key. The listener is
 * shut down, for all processes that hold a copy of it, when all nodes have connected, when the
 * exchange has failed, or after accept_ms. Returns 0 and *server, which server_close() frees, or
 * negative with *err. */
int server_open(const struct server_config *config, struct server **server,
                struct nuioa_error *err);

/* Returns the value of WIRE_VARIABLE. The server owns it. */
const char *server_text(const struct server *server);

/* Sets the step whose nodes may connect. job_id UINT32_MAX: the first node's job, then the same for
 * all. node_count 0: the number that the first node tells. */
void server_expect(struct server *server, uint32_t job_id, uint32_t step_id, uint32_t node_count);

/* Starts the thread. It blocks all signals, and ends by itself when the nodes have been served or
 * the exchange has failed. `eager`: nodes are certain to connect, so that with auth=munge the
 * process that decodes credentials starts now. Returns 0, or -errno: then the listener is closed,
 * so that no node waits. */
int server_start(struct server *server, bool eager);

/* server_wait() waits until the thread ends by itself; server_stop() ends it now. After both it is
 * joined. Both do nothing if no thread was started. */
void server_wait(struct server *server);
void server_stop(struct server *server);

/* Returns the counters. No thread may be running. */
struct server_counts server_counts(const struct server *server);

/* Stops the thread and frees the server. NULL is allowed. */
void server_close(struct server *server);

#endif
