#ifndef SPANK_RENDEZVOUS_SERVER_PRIVATE_H
#define SPANK_RENDEZVOUS_SERVER_PRIVATE_H

#include <pthread.h>

#include "spank/rendezvous/hello.h"
#include "spank/rendezvous/munge_worker.h"
#include "spank/rendezvous/peer.h"
#include "spank/rendezvous/server.h"
#include "spank/rendezvous/tag.h"
#include "spank/rendezvous/token.h"

/* Private to spank/rendezvous/server.c, which keeps the thread, the door and who is let in, and spank/rendezvous/server_protocol.c, which is what
 * is said with those inside. */

/* Two, for munged answers with two threads if nobody tells it otherwise. */
#define OPENERS 2

enum phase { GATHERING, DONE, FAILED };

struct desk {
    struct opener opener;
    struct peer *peer; /* whose credential is being opened; NULL: none, or one that is gone */
    bool busy;
};

struct gather {
    struct gather_config config;
    struct hmac_key key; /* of the step */
    char text[INVITATION_TEXT_MAX];
    struct hello_wanted wanted;
    int listener, epoll, stop;
    bool listening; /* strangers are let in at present */
    bool started, eager;
    pthread_t thread;

    enum phase phase;
    struct gather_counts counts;
    /* until_ms: the first node waits no longer; door_ms: none is to be expected any more; 0: not set */
    int64_t give_up_ms, until_ms, door_ms, flush_ms, pause_ms;
    struct nuioa_error trouble;    /* why it is to be given up */
    bool warned;
    struct peer **nodes;           /* by place in the step; NULL: not heard of */
    uint32_t *leaders;
    uint32_t settled;              /* how many of them are known */
    bool leaderless;               /* some node has no leader: no table */
    uint32_t missed;               /* nodes that have hung up when the table was out, without a record */
    struct peer_list strangers, queue, opening, known, dead;
    uint32_t stranger_count, unsent;
    struct desk desks[OPENERS];
    struct opened *opened;
};

int64_t gather_now_ms(void);

/* spank/rendezvous/server.c */
void gather_watch(struct gather *g, int fd, void *who, uint32_t events, int how);
void gather_let_in(struct gather *g, bool in);
bool gather_is_stranger(const struct peer *p);
/* Ends a connection. The peer is freed when no event can name it any more. */
void gather_drop(struct gather *g, struct peer *p);
void gather_send(struct gather *g, struct peer *p, uint32_t type, const void *body, size_t length,
                 const uint8_t digest[SHA256_SIZE]);
/* Nobody is let in any more: strangers go, and so do the openers, which nobody waits for here. */
void gather_close_door(struct gather *g);

/* spank/rendezvous/server_protocol.c */
/* Reads what a peer says and acts on it. */
void gather_hear(struct gather *g, struct peer *p);
/* A credential was opened. */
void gather_take_opened(struct gather *g, struct peer *p, const struct opened *opened);
/* A peer is gone or does what no node does, which `rc` says: without it there is no table. */
void gather_lose(struct gather *g, struct peer *p, int rc);
/* The time to wait for others is over: whether, and what follows. */
bool gather_is_late(const struct gather *g);
void gather_give_up(struct gather *g);
/* The end has come before that: what is known to be wrong is said all the same. */
void gather_say_what_lacks(struct gather *g);

#endif
