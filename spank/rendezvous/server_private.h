/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_SERVER_PRIVATE_H
#define SPANK_RENDEZVOUS_SERVER_PRIVATE_H

#include <hwloc.h>
#include <pthread.h>

#include "spank/rendezvous/hello.h"
#include "spank/rendezvous/munge_worker.h"
#include "spank/rendezvous/peer.h"
#include "spank/rendezvous/server.h"
#include "spank/rendezvous/tag.h"
#include "spank/rendezvous/token.h"

/* The server in three files, and for these only: server.c has its thread, its time limits and the
 * acceptance of peers; server_connections.c opens, closes and writes to connections;
 * server_protocol.c answers messages. server.c uses both others, and server_protocol.c uses
 * server_connections.c. Only the server's thread calls the functions below; srun's own thread calls
 * server_watch() and server_close_listener() while that one does not run. None waits, and none
 * fails: what goes wrong ends the connection that it concerns, or the exchange. `g` is the server,
 * `p` one of its peers, which the server owns. */

/* The number of processes that decode credentials. Two, because munged has two threads by
 * default. */
#define MUNGE_WORKERS 2

/* GATHERING: messages are outstanding; DONE: those that could come have come; FAILED: there is no
 * exchange. */
enum phase { GATHERING, DONE, FAILED };

/* A process that decodes credentials. */
struct decoder {
    struct munge_worker worker;
    struct peer *peer; /* whose credential is being decoded; NULL: none, or its peer was closed */
    bool busy;         /* an answer is outstanding */
};

struct server {
    struct server_config config;
    struct hmac_key key;        /* the step's key */
    char text[TOKEN_TEXT_MAX];  /* the token */
    struct hello_wanted wanted; /* the step whose nodes may connect */
    int listener, epoll,
        stop;            /* descriptors, -1: none; `stop` is an eventfd that ends the thread */
    bool accepting;      /* epoll watches the listener */
    bool started, eager; /* the thread runs and is to be joined; as for server_start() */
    bool stopping;       /* the thread is to end; read and written atomically */
    pthread_t thread;

    enum phase phase;
    struct server_counts counts;
    /* Points of monotonic time in milliseconds, 0: not set. late_ms: the nodes that have
     * not sent their records have had their time; accept_until_ms: no
     * more connections are accepted; flush_ms: unsent bytes are discarded at the end; pause_ms: no
     * connection is accepted before, after accept() has failed. */
    int64_t late_ms, accept_until_ms, flush_ms, pause_ms;
    uint32_t room;              /* connections that may be open; as config.room() has said */
    struct nuioa_error trouble; /* the first known reason for a failure */
    bool warned;                /* the user was warned of the trouble */
    struct peer **nodes;        /* [wanted.node_count], by position; NULL: no hello yet */
    hwloc_bitmap_t ranks;       /* those of the nodes that have asked for a slice */
    uint32_t records_missing;   /* nodes that disconnected without a record */
    /* unauthenticated: their first message is not complete; queue: their credential waits for a
     * decoder; decoding: a decoder has it; authenticated: nodes; closed: to be freed. */
    struct peer_list unauthenticated, queue, decoding, authenticated, closed;
    uint32_t unauthenticated_count; /* peers in the first three lists */
    uint32_t unsent;                /* peers with unsent bytes */
    struct decoder decoders[MUNGE_WORKERS];
    struct munge_answer *decoded; /* the latest answer of a decoder */
};

/* --- server_connections.c --- */

/* Calls epoll_ctl() with the operation `how` (EPOLL_CTL_*) for the descriptor `fd` and `events`
 * (EPOLL*). epoll_wait() then returns `who` with each event of the descriptor: the peer, the
 * decoder, or the address of g->listener or g->stop. */
void server_watch(struct server *g, int fd, void *who, uint32_t events, int how);

/* Starts (`accepting` is true) or stops watching the listener for connections. It does nothing if
 * the listener is closed. */
void server_set_accepting(struct server *g, bool accepting);

/* Asks srun how many connections may be open in a step of so many nodes, 0 if that is not known
 * yet. Returns true if that is enough. */
bool server_has_room(struct server *g, uint32_t node_count);

/* Returns true if it is not yet known that the peer is a node of this step. */
bool server_is_unauthenticated(const struct peer *p);

/* Closes the connection of a peer and moves the peer to g->closed. It is freed later, because other
 * events of the same epoll_wait() may still point to it. A second call does nothing. */
void server_drop(struct server *g, struct peer *p);

/* Calls server_drop() for all peers in a list of the server. */
void server_drop_all(struct server *g, struct peer_list *list);

/* Shuts the listener down, also for processes that hold a copy of it, and closes it. A second call
 * does nothing. */
void server_close_listener(struct server *g);

/* Sends a message of the type `type` (enum wire_type), or keeps a copy of what the socket does not
 * take, which is sent later. The body has `length` bytes; `digest` is its SHA-256. If sending
 * fails, the connection is shut down, and server_receive() notices its end. */
void server_send(struct server *g, struct peer *p, uint32_t type, const void *body, size_t length,
                 const uint8_t digest[SHA256_SIZE]);

/* Closes the listener and all unauthenticated connections, and lets the decoders end without
 * waiting for them. */
void server_stop_accepting(struct server *g);

/* --- server_protocol.c --- */

/* Reads and handles all messages that have arrived from a peer. The peer may be closed
 * afterwards. */
void server_receive(struct server *g, struct peer *p);

/* Handles the answer of a decoder to a peer's credential: takes the hello in it, or closes the
 * peer's connection. */
void server_take_decoded(struct server *g, struct peer *p, const struct munge_answer *decoded);

/* Handles the loss of a peer: its connection has ended, or it broke the protocol. `rc` is the
 * reason, -errno. It closes the connection. The others are not affected. */
void server_peer_failed(struct server *g, struct peer *p, int rc);

/* Returns true if messages are outstanding and a time limit for them has passed. */
bool server_is_late(const struct server *g);

/* Finishes with the nodes that have come, and a warning. It is called when server_is_late() returns
 * true. If no hello has come and nodes may still connect, it only warns of the trouble and lets the
 * exchange go on. */
void server_give_up(struct server *g);

/* Is called once, when the thread ends: finishes with the nodes that have come, if that was not
 * done. If none has, it warns of known trouble, and of their absence if the user asked for a report
 * or for the nodes' part. */
void server_end(struct server *g);

#endif
