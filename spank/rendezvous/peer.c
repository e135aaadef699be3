/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct peer *peer_new(int fd, int64_t now_ms, const struct hmac_key *key)
{
    struct peer *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->fd = fd;
    p->since_ms = now_ms;
    p->key = *key;
    return p;
}

void peer_move(struct peer *p, struct peer_list *to)
{
    if (p->list) {
        *(p->previous ? &p->previous->next : &p->list->first) = p->next;
        *(p->next ? &p->next->previous : &p->list->last) = p->previous;
    }
    p->list = to;
    p->next = NULL;
    p->previous = to->last;
    *(to->last ? &to->last->next : &to->first) = p;
    to->last = p;
}

void peer_close(struct peer *p)
{
    close(p->fd);
    p->fd = -1;
    p->state = PEER_CLOSED;
    peer_forget_body(p);
    free(p->out);
    p->out = NULL;
    p->out_length = 0;
}

void peer_free_all(struct peer_list *list)
{
    for (struct peer *p, *next = list->first; (p = next);) {
        next = p->next;
        explicit_bzero(&p->key, sizeof(p->key));
        free(p);
    }
    *list = (struct peer_list){ NULL, NULL };
}

/* The number of bytes that are missing in the present part: the frame, or body and tag. 0: it is
 * complete. */
static size_t bytes_missing(const struct peer *p)
{
    return sizeof(p->frame) + (p->body ? p->frame.length + WIRE_TAG_SIZE : 0) - p->got;
}

int peer_receive(struct peer *p)
{
    char *to = p->body ? p->body + p->got - sizeof(p->frame) : (char *)&p->frame + p->got;
    ssize_t got = recv(p->fd, to, bytes_missing(p), MSG_DONTWAIT);
    if (got == 0)
        return -ECONNRESET;
    if (got < 0)
        return errno == EAGAIN ? 0 : errno == EINTR ? PEER_PART : -errno;
    p->got += (size_t)got;
    if (bytes_missing(p))
        return PEER_PART;
    return p->body ? PEER_MESSAGE : PEER_FRAME;
}

int peer_expect_body(struct peer *p)
{
    p->body = malloc(p->frame.length + WIRE_TAG_SIZE);
    return p->body ? 0 : -ENOMEM;
}

void peer_forget_body(struct peer *p)
{
    free(p->body);
    p->body = NULL;
    p->got = 0;
}

bool peer_unsent(const struct peer *p)
{
    return p->out_length > 0;
}

/* Keeps a copy of the parts without their first `sent` bytes. */
static int keep_unsent(struct peer *p, const struct iovec *parts, size_t count, size_t sent)
{
    for (size_t i = 0; i < count; i++) {
        size_t skip = sent < parts[i].iov_len ? sent : parts[i].iov_len,
               left = parts[i].iov_len - skip;
        char *more = left ? realloc(p->out, p->out_length + left) : p->out;
        if (left && !more)
            return -ENOMEM;
        if (left)
            memcpy(more + p->out_length, (const char *)parts[i].iov_base + skip, left);
        p->out = more;
        p->out_length += left;
        sent -= skip;
    }
    return 0;
}

/* Returns the number of bytes that were sent, or -errno. */
static ssize_t send_parts(int fd, const struct iovec *parts, size_t count)
{
    struct msghdr message = { .msg_iov = (struct iovec *)parts, .msg_iovlen = count };
    ssize_t sent;
    do
        sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent >= 0 ? sent : errno == EAGAIN ? 0 : -errno;
}

/* Sends the bytes that were kept. */
static int send_kept(struct peer *p)
{
    struct iovec kept = { p->out, p->out_length };
    ssize_t sent = send_parts(p->fd, &kept, 1);
    if (sent < 0)
        return (int)sent;
    p->out_length -= (size_t)sent;
    memmove(p->out, p->out + sent, p->out_length);
    if (p->out_length)
        return 0;
    free(p->out);
    p->out = NULL;
    return 0;
}

int peer_send(struct peer *p, const struct iovec *parts, size_t count)
{
    int rc = p->out_length ? send_kept(p) : 0;
    if (rc < 0 || !count)
        return rc;
    ssize_t sent = p->out_length ? 0 : send_parts(p->fd, parts, count);
    return sent < 0 ? (int)sent : keep_unsent(p, parts, count, (size_t)sent);
}
