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

/* Limits for unauthenticated peers, which are connections that have not sent a right hello: their
 * number, and their time in milliseconds. At the limit a new peer replaces the oldest one. */
#define SERVER_UNAUTHENTICATED_MAX 64
#define SERVER_UNAUTHENTICATED_MS 1000

/* The input of server_open(), which copies the struct. The text and the functions that it points to
 * must stay valid until server_close(). */
struct server_config {
    bool encrypted;     /* auth=munge: hellos are encrypted */
    uid_t uid;          /* with auth=munge: only credentials of this user are accepted */
    const char *socket; /* with auth=munge: the path of munged's socket, "" the default one */
    /* How long other nodes are waited for after the first record, or after a node had no credential
     * or munged failed. */
    unsigned timeout_ms;
    bool reports;       /* `finish` makes a report; else it only prints what nodes warn of */
    bool asked;         /* the user asked for the nodes' part, and is told if no node has called */
    unsigned accept_ms; /* how long connections are accepted; 0: while the server runs */
    uint16_t port_first, port_last; /* the ports to choose from, both inclusive; 0 and 0: any */

    /* The server's thread calls these functions with `arg`, and server_start() room() too. Their
     * other arguments are valid during the call only. */
    void *arg;
    /* Returns how many connections may be open at one time in a step of `node_count` nodes, 0 if
     * their number is not known yet. All nodes are connected at once, so a step with more nodes has
     * no exchange. NULL: any number. */
    uint32_t (*room)(void *arg, uint32_t node_count);
    /* Takes a warning for the user: one line, without a newline. */
    void (*warn)(void *arg, const char *text);
    /* Returns the body of WELCOME for a node that runs ranks[count] (malloc'd, the thread frees)
     * and its *length in bytes; or NULL if there is no slice for it. The function may be NULL:
     * there are no slices. */
    void *(*slice)(void *arg, const uint32_t *ranks, uint32_t count, size_t *length);
    /* Writes the names of the nodes whose record has not come into `names`, an array of `size`
     * bytes; "" if they are not known. NULL: they never are. */
    void (*absent)(void *arg, char *names, uint32_t size);
    /* `record` takes each record as it arrives.
     * `finish` is called once, when all records are there that can still arrive, when the time for
     * them is over, or when the thread is ended; never if no node has come. */
    void (*record)(void *arg, const struct record *record);
    void (*finish)(void *arg);
};

/* What has happened, for tests. */
struct server_counts {
    uint32_t nodes;                /* number of nodes of the step; 0: not known yet */
    uint32_t hellos, records;      /* number of accepted hellos and records */
    uint32_t refused;              /* unauthenticated peers whose connection was closed */
    uint32_t unauthenticated_most; /* at one time */
};

struct server;

/* Opens the listener, for IPv6 and IPv4 where both exist, and makes the step's key. The listener is
 * shut down, for all processes that hold a copy of it, when all nodes have connected, when the
 * exchange has failed, or after accept_ms. Returns 0 and *server, which server_close() frees; or
 * -errno with *err, and *server is NULL. */
int server_open(const struct server_config *config, struct server **server,
                struct nuioa_error *err);

/* Returns the value of WIRE_VARIABLE for the nodes of the step: the token, which holds the step's
 * key. The server owns the text, until server_close(). */
const char *server_text(const struct server *server);

/* Sets the step whose nodes may connect, before server_start(). If `job_id` is UINT32_MAX, the
 * first node's job counts for all; if `node_count` is 0, the number of nodes that the first node
 * tells. */
void server_expect(struct server *server, uint32_t job_id, uint32_t step_id, uint32_t node_count);

/* Starts the thread. It blocks all signals, and ends by itself when the nodes have been served or
 * the exchange has failed. `eager` says that nodes are certain to connect: then with auth=munge the
 * process that decodes credentials starts at once. Returns 0, also if the thread was started
 * before; or -errno: then the listener is closed, so that no node waits. -E2BIG: there are more
 * nodes than connections may be open. */
int server_start(struct server *server, bool eager);

/* Waits until the thread ends by itself, which may be never, and joins it. It does nothing if no
 * thread was started. */
void server_wait(struct server *server);

/* Ends the thread now, without waiting for any node, and joins it. If the thread cannot be woken,
 * that takes a second. It does nothing if no thread was started. */
void server_stop(struct server *server);

/* Returns the counts. No thread may be running. */
struct server_counts server_counts(const struct server *server);

/* Stops the thread, closes the listener and all connections, and frees the server. NULL is
 * allowed. */
void server_close(struct server *server);

#endif
