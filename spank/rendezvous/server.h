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

/* srun's side of the rendezvous (wire.h): a listener for one step, and a thread that serves it. */

/* Of peers that are not known yet: how many, how long, how much they may say. When another one
 * comes the one that has been silent longest goes. */
#define SERVER_UNAUTHENTICATED_MAX 64
#define SERVER_UNAUTHENTICATED_MS 1000

struct server_config {
    bool sealed;         /* auth=munge */
    uid_t uid;           /* then: whose credentials are taken, our own */
    const char *socket;  /* and munged's, "" the default */
    unsigned timeout_ms; /* how long after a node's apology the others are waited for */
    bool every_record;   /* for a report; else a node may have nothing to say */
    unsigned door_ms;    /* for how long nodes may come; 0: as long as there is a gather */
    uint16_t port_first, port_last; /* 0: any */

    /* All are called by the thread; texts are valid during the call. */
    void *arg;
    void (*warn)(void *arg, const char *text);
    /* The body of WIRE_SLICE for a node that runs ranks[count]: malloc'd, the thread frees. NULL:
     * none. */
    void *(*slice)(void *arg, const uint32_t *ranks, uint32_t count, size_t *length);
    /* One record after the other, as they come; then once, when all are there that are to come and
     * the nodes have their table. */
    void (*record)(void *arg, const struct record *record);
    void (*finish)(void *arg);
};

/* What has happened so far; for tests and the curious. */
struct server_counts {
    uint32_t nodes, hellos, records, tables; /* expected, seen, seen, 1: the table went out */
    uint32_t refused;                        /* peers that were sent away */
    uint32_t unauthenticated_most;           /* at one time */
};

struct server;

/* Opens the listener: IPv6 and IPv4 where both exist. It is closed, for all processes that hold a
 * copy of it, when all nodes have come, or one has failed, or the time for it is over. 0 and
 * *gather, or negative with *err. */
int server_open(const struct server_config *config, struct server **server,
                struct nuioa_error *err);

/* For WIRE_VARIABLE. Owned by `gather`. */
const char *server_text(const struct server *server);

/* The job that nodes must belong to; UINT32_MAX: any, but all the same. How many nodes there are;
 * 0: what the first of them says. Before the start. */
void server_expect(struct server *server, uint32_t job_id, uint32_t step_id, uint32_t node_count);

/* Starts the thread. It blocks all signals, and it ends by itself when the nodes have been served
 * or one has failed. `eager`: nodes are sure to come, so that what their credentials need is made
 * ready before they do. 0, or -errno: then the listener is closed, so that nodes do not wait. */
int server_start(struct server *server, bool eager);

/* Waits for the end of the thread; stop: ends it now. Both join it, and are fine if it never
 * began. */
void server_wait(struct server *server);
void server_stop(struct server *server);

/* When no thread runs. */
struct server_counts server_counts(const struct server *server);

/* Stops, and frees all. NULL is fine. */
void server_close(struct server *server);

#endif
