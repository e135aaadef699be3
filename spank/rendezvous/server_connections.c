/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/rendezvous/server_private.h"

void server_watch(struct server *g, int fd, void *who, uint32_t events, int how)
{
    struct epoll_event event = { .events = events, .data.ptr = who };
    epoll_ctl(g->epoll, how, fd, &event);
}

/* shutdown() is needed because processes that srun has forked may hold copies of the listener. */
void server_close_listener(struct server *g)
{
    if (g->listener < 0)
        return;
    if (g->epoll >= 0)
        server_watch(g, g->listener, NULL, 0, EPOLL_CTL_DEL);
    shutdown(g->listener, SHUT_RDWR);
    close(g->listener);
    g->listener = -1;
}

void server_set_accepting(struct server *g, bool accepting)
{
    if (g->listener >= 0 && g->accepting != accepting)
        server_watch(g, g->listener, &g->listener, accepting ? EPOLLIN : 0, EPOLL_CTL_MOD);
    g->accepting = accepting;
}

bool server_has_room(struct server *g, uint32_t node_count)
{
    g->room = g->config.room ? g->config.room(g->config.arg, node_count) : UINT32_MAX;
    return g->room && g->room >= node_count;
}

bool server_is_unauthenticated(const struct peer *p)
{
    return p->state <= PEER_CREDENTIAL;
}

void server_drop(struct server *g, struct peer *p)
{
    if (p->state == PEER_CLOSED)
        return;
    for (int i = 0; i < MUNGE_WORKERS; i++)
        if (g->decoders[i].peer == p)
            g->decoders[i].peer = NULL;
    if (server_is_unauthenticated(p)) {
        g->unauthenticated_count--;
        g->counts.refused++;
        server_set_accepting(g, true);
    }
    g->unsent -= peer_unsent(p);
    /* Closing is not enough to stop events: a child may hold a copy. */
    server_watch(g, p->fd, NULL, 0, EPOLL_CTL_DEL);
    peer_close(p);
    peer_move(p, &g->closed);
}

void server_drop_all(struct server *g, struct peer_list *list)
{
    while (list->first)
        server_drop(g, list->first);
}

void server_send(struct server *g, struct peer *p, uint32_t type, const void *body, size_t length,
                 const uint8_t digest[SHA256_SIZE])
{
    struct wire_frame frame = { WIRE_MAGIC, type, (uint32_t)length };
    uint8_t tag[WIRE_TAG_SIZE];
    const struct iovec parts[] = { { &frame, sizeof(frame) },
                                   { (void *)body, length },
                                   { tag, sizeof(tag) } };
    bool before = peer_unsent(p);
    tag_make(&p->key, WIRE_FROM_SRUN, &frame, digest, tag);
    int rc = peer_send(p, parts, 3);
    g->unsent += peer_unsent(p) - before;
    if (peer_unsent(p) && !before)
        server_watch(g, p->fd, p, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
    if (rc < 0)
        shutdown(p->fd, SHUT_RDWR); /* server_receive() sees the end and reports it */
}

void server_stop_accepting(struct server *g)
{
    server_close_listener(g);
    g->accept_until_ms = 0;
    server_drop_all(g, &g->unauthenticated);
    server_drop_all(g, &g->queue);
    server_drop_all(g, &g->decoding);
    for (int i = 0; i < MUNGE_WORKERS; i++)
        munge_worker_close(&g->decoders[i].worker);
}
