/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_PEER_H
#define SPANK_RENDEZVOUS_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "spank/rendezvous/sha256.h"
#include "spank/rendezvous/wire.h"

/* One connection of srun's to a node, with its input and output buffers; and lists of them. Only
 * the server's thread uses them, and no function waits. */

enum peer_state {
    PEER_NEW,           /* no complete message has arrived */
    PEER_CREDENTIAL,    /* its credential has arrived and is not decoded yet */
    PEER_AUTHENTICATED, /* a node of this step */
    PEER_RECORDED,      /* its record has arrived */
    PEER_CLOSED,        /* the connection is closed, the struct itself is not yet freed */
};

/* A list owns its peers. It is empty if both pointers are NULL. */
struct peer_list {
    struct peer *first, *last;
};

struct peer {
    struct peer *next, *previous;
    struct peer_list *list; /* the list that holds it; NULL: none */
    int fd;                 /* -1: closed */
    enum peer_state state;
    uint32_t node;           /* position of the node in the step, once authenticated */
    int64_t since_ms;        /* when it connected, by nuioa_clock_ms() */
    struct wire_frame frame; /* the frame of the message that is arriving */
    size_t got;              /* bytes of that message so far: frame, body and tag */
    char *body;              /* [frame.length + WIRE_TAG_SIZE]; NULL until the frame is complete */
    struct hmac_key key;     /* the key of its tags: first the step's, later the session's */
    char *out;               /* [out_length]: bytes that the socket has not taken yet */
    size_t out_length;
};

/* Returns a new peer in no list, for the connection `fd`, which peer_close() closes. `now_ms` is
 * the present time by nuioa_clock_ms(); `key` is the step's and is copied. The caller puts the peer
 * into a list, and peer_free_all() frees it. Returns NULL without memory. */
struct peer *peer_new(int fd, int64_t now_ms, const struct hmac_key *key);

/* Moves the peer from its list, if any, to the end of another one. */
void peer_move(struct peer *p, struct peer_list *to);

/* Closes the connection, frees the buffers, and sets the state to PEER_CLOSED. */
void peer_close(struct peer *p);

/* Frees all peers in a list, which peer_close() has closed, and makes the list empty. */
void peer_free_all(struct peer_list *list);

/* Reads once, without waiting. Returns PEER_FRAME: the frame is complete, the caller checks it and
 * calls peer_expect_body(); PEER_MESSAGE: the message is complete, the caller uses the body and
 * calls peer_forget_body(); PEER_PART: a part has arrived, call again; 0: no bytes are there now;
 * or -errno, -ECONNRESET at the end of the connection. */
enum { PEER_FRAME = 1, PEER_MESSAGE, PEER_PART };
int peer_receive(struct peer *p);

/* Allocates p->body for the frame that has arrived, whose length the caller has checked. The peer
 * owns it, until peer_forget_body(). Returns 0 or -ENOMEM. */
int peer_expect_body(struct peer *p);

/* Frees the body, and makes the peer ready for the next frame. */
void peer_forget_body(struct peer *p);

/* Sends the bytes kept from before and then parts[count], and keeps a copy of what the socket does
 * not take. With a `count` of 0 it only sends what was kept. Returns 0, also if bytes were kept, or
 * -errno; after an error the caller closes the connection. */
int peer_send(struct peer *p, const struct iovec *parts, size_t count);

/* Returns true if peer_send() has kept bytes that are still to be sent. */
bool peer_unsent(const struct peer *p);

#endif
