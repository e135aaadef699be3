#include "peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct peer *peer_new(int fd, int64_t now_ms)
{
    struct peer *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->fd = fd;
    p->since_ms = now_ms;
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

void peer_free_all(struct peer_list *list)
{
    for (struct peer *p, *next = list->first; (p = next);) {
        next = p->next;
        if (p->fd >= 0)
            close(p->fd);
        free(p->body);
        free(p->out);
        free(p);
    }
    *list = (struct peer_list){ NULL, NULL };
}

/* Bytes of the present part, frame or body; 0 when it is complete. */
static size_t missing(const struct peer *p)
{
    return p->body ? sizeof(p->frame) + p->frame.length - p->got : sizeof(p->frame) - p->got;
}

int peer_receive(struct peer *p)
{
    char *to = p->body ? p->body + p->got - sizeof(p->frame) : (char *)&p->frame + p->got;
    ssize_t got = recv(p->fd, to, missing(p), MSG_DONTWAIT);
    if (got == 0)
        return -ECONNRESET;
    if (got < 0)
        return errno == EAGAIN ? 0 : errno == EINTR ? PEER_PART : -errno;
    p->got += (size_t)got;
    if (missing(p))
        return PEER_PART;
    return p->body ? PEER_MESSAGE : PEER_FRAME;
}

int peer_expect_body(struct peer *p)
{
    p->body = malloc(p->frame.length + 1);
    if (!p->body)
        return -ENOMEM;
    return p->frame.length ? PEER_PART : PEER_MESSAGE;
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

static int keep(struct peer *p, const char *bytes, size_t length)
{
    char *more = realloc(p->out, p->out_length + length);
    if (!more)
        return -ENOMEM;
    memcpy(more + p->out_length, bytes, length);
    p->out = more;
    p->out_length += length;
    return 0;
}

/* How many bytes went out, or -errno. */
static ssize_t send_some(int fd, const char *bytes, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t sent = send(fd, bytes + done, length - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN)
            break;
        if (sent < 0 && errno != EINTR)
            return -errno;
        done += sent > 0 ? (size_t)sent : 0;
    }
    return (ssize_t)done;
}

int peer_send(struct peer *p, const void *bytes, size_t length)
{
    ssize_t sent;
    if (p->out_length) {
        sent = send_some(p->fd, p->out, p->out_length);
        if (sent < 0)
            return (int)sent;
        p->out_length -= (size_t)sent;
        memmove(p->out, p->out + sent, p->out_length);
        if (p->out_length)
            return length ? keep(p, bytes, length) : 0;
        free(p->out);
        p->out = NULL;
    }
    sent = send_some(p->fd, bytes, length);
    if (sent < 0)
        return (int)sent;
    return (size_t)sent < length ? keep(p, (const char *)bytes + sent, length - (size_t)sent) : 0;
}
