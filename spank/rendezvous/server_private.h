/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_SERVER_PRIVATE_H
#define SPANK_RENDEZVOUS_SERVER_PRIVATE_H

#include <pthread.h>

#include "spank/rendezvous/hello.h"
#include "spank/rendezvous/munge_worker.h"
#include "spank/rendezvous/peer.h"
#include "spank/rendezvous/server.h"
#include "spank/rendezvous/tag.h"
#include "spank/rendezvous/token.h"

/* Private to spank/rendezvous/server.c, which keeps the thread, the door and who is let in, and
 * spank/rendezvous/server_protocol.c, which is what is said with those inside. */

/* Two, for munged answers with two threads if nobody tells it otherwise. */
#define MUNGE_WORKERS 2

enum phase { GATHERING, DONE, FAILED };

struct decoder {
    struct munge_worker worker;
    struct peer *peer; /* whose credential is being decoded; NULL: none, or one that is gone */
    bool busy;
};

struct server {
    struct server_config config;
    struct hmac_key key; /* of the step */
    char text[TOKEN_TEXT_MAX];
    struct hello_wanted wanted;
    int listener, epoll, stop;
    bool accepting; /* strangers are let in at present */
    bool started, eager;
    pthread_t thread;

    enum phase phase;
    struct server_counts counts;
    /* until_ms: the first node waits no longer; accept_until_ms: none is to be expected any more; 0: not
     * set */
    int64_t give_up_ms, until_ms, accept_until_ms, flush_ms, pause_ms;
    struct nuioa_error trouble; /* why it is to be given up */
    bool warned;
    struct peer **nodes; /* by place in the step; NULL: not heard of */
    uint32_t *leaders;
    uint32_t leaders_known; /* how many of them are known */
    bool has_leaderless;    /* some node has no leader: no table */
    /* nodes that have hung up when the table was out, without a record */
    uint32_t records_missing;
    struct peer_list unauthenticated, queue, decoding, authenticated, closed;
    uint32_t unauthenticated_count, unsent;
    struct decoder decoders[MUNGE_WORKERS];
    struct munge_answer *decoded;
};

int64_t server_now_ms(void);

/* server_connections.c */
void server_watch(struct server *g, int fd, void *who, uint32_t events, int how);
void server_set_accepting(struct server *g, bool accepting);
bool server_is_unauthenticated(const struct peer *p);
/* Ends a connection. The peer is freed when no event can name it any more. */
void server_drop(struct server *g, struct peer *p);
void server_close_listener(struct server *g);
void server_drop_all(struct server *g, struct peer_list *list);
void server_send(struct server *g, struct peer *p, uint32_t type, const void *body, size_t length,
                 const uint8_t digest[SHA256_SIZE]);
/* Nobody is let in any more: strangers go, and so do the openers, which nobody waits for here. */
void server_stop_accepting(struct server *g);

/* spank/rendezvous/server_protocol.c */
/* Reads what a peer says and acts on it. */
void server_receive(struct server *g, struct peer *p);
/* A credential was decoded. */
void server_take_decoded(struct server *g, struct peer *p, const struct munge_answer *decoded);
/* A peer is gone or does what no node does, which `rc` says: without it there is no table. */
void server_peer_failed(struct server *g, struct peer *p, int rc);
/* The time to wait for others is over: whether, and what follows. */
bool server_is_late(const struct server *g);
void server_give_up(struct server *g);
/* The end has come before that: what is known to be wrong is said all the same. */
void server_warn_at_end(struct server *g);

#endif
