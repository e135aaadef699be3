/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_PEER_H
#define SPANK_RENDEZVOUS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "spank/rendezvous/sha256.h"
#include "spank/rendezvous/wire.h"

/* One connection to srun's side of the rendezvous, and lists of them. */

enum peer_state {
    PEER_NEW,           /* nothing complete has come */
    PEER_CREDENTIAL,    /* a credential, not yet opened */
    PEER_AUTHENTICATED, /* a node of our step */
    PEER_RECORDED,      /* its record is here */
    PEER_CLOSED,        /* waits to be freed */
};

struct peer_list {
    struct peer *first, *last;
};

struct peer {
    struct peer *next, *previous;
    struct peer_list *list;
    int fd;
    enum peer_state state;
    uint32_t node;
    bool early_leader; /* its leader is known by its hello */
    int64_t since_ms;
    struct wire_frame frame; /* of the message that is coming */
    size_t got;              /* bytes of it, frame, body and tag */
    char *body;              /* [frame.length + WIRE_TAG_SIZE]; NULL before the frame is complete */
    struct hmac_key key;     /* of its tags: the step's, later the session's */
    char *out;               /* what the socket has not taken yet */
    size_t out_length;
};

/* Takes the descriptor over. NULL without memory. `key`: the step's. */
struct peer *peer_new(int fd, int64_t now_ms, const struct hmac_key *key);

/* Out of the list it is in, to the end of another. */
void peer_move(struct peer *p, struct peer_list *to);
void peer_free_all(struct peer_list *list);

/* Reads what there is. PEER_FRAME: a frame is complete, call peer_expect_body; PEER_MESSAGE: a
 * message is, its body to be taken before the next call; 0: no more now; negative: the end, or
 * -errno. */
enum { PEER_FRAME = 1, PEER_MESSAGE, PEER_PART };
int peer_receive(struct peer *p);

/* The frame is fine. 0 or -ENOMEM. */
int peer_expect_body(struct peer *p);
void peer_forget_body(struct peer *p);

/* Sends what is left from before and then these parts; keeps a copy of what does not go out. 0 or
 * -errno. */
int peer_send(struct peer *p, const struct iovec *parts, size_t count);
bool peer_unsent(const struct peer *p);

#endif
