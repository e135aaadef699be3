/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/server_private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/rendezvous/listener.h"
#include "util/clock.h"

#define EVENTS 64
/* With so many unauthenticated peers a second decoder is worth its fork. */
#define MANY_CREDENTIALS 8
/* Connections that are accepted before other events are handled. */
#define ACCEPTED_MAX 64
/* Milliseconds for which no connection is accepted when file descriptors have run out. */
#define PAUSE_MS 50
/* The time in milliseconds for sending the unsent bytes at the end. */
#define FLUSH_MS 1000
/* The longest sleep of the thread in milliseconds. If it cannot be woken by `stop`, it sees after
 * this time that it is to end. */
#define SLEEP_MS 1000

/* --- peers --- */

static void serve(struct server *g, struct peer *p, uint32_t events)
{
    if (events & EPOLLOUT && p->state != PEER_CLOSED) {
        bool before = peer_unsent(p);
        int rc = peer_send(p, NULL, 0);
        g->unsent -= before - peer_unsent(p);
        if (!peer_unsent(p))
            server_watch(g, p->fd, p, EPOLLIN, EPOLL_CTL_MOD);
        if (rc < 0)
            server_peer_failed(g, p, rc);
    }
    if (p->state == PEER_CREDENTIAL)
        server_peer_failed(g, p, -ECONNRESET); /* only an error or the end is watched for */
    else if (events & ~(uint32_t)EPOLLOUT && p->state != PEER_CLOSED)
        server_receive(g, p);
}

/* --- unauthenticated peers --- */

/* Returns true if another peer must give way to a new one. Nodes leave room for one at least, until
 * all of them are connected. */
static bool is_full(const struct server *g)
{
    uint32_t left = g->room > g->counts.hellos ? g->room - g->counts.hellos : 1;
    return g->unauthenticated_count >=
           (left < SERVER_UNAUTHENTICATED_MAX ? left : SERVER_UNAUTHENTICATED_MAX);
}

/* Returns true if one more unauthenticated peer can be taken. At the limit it replaces the oldest
 * one that has not sent its first message, unless the credentials of all are being decoded. */
static bool has_room(const struct server *g)
{
    return !is_full(g) || g->unauthenticated.first;
}

/* Looks for a peer that gives way to a new one: not one whose message has come meanwhile. Returns
 * false if there is no room. */
static bool make_room(struct server *g)
{
    while (is_full(g) && g->unauthenticated.first) {
        struct peer *oldest = g->unauthenticated.first;
        server_receive(g, oldest);
        if (g->unauthenticated.first == oldest)
            return true;
    }
    return has_room(g);
}

static void add_peer(struct server *g, int fd)
{
    struct peer *p = peer_new(fd, nuioa_clock_ms(), &g->key);
    if (!p) {
        close(fd);
        return;
    }
    if (is_full(g))
        server_drop(g, g->unauthenticated.first);
    peer_move(p, &g->unauthenticated);
    if (++g->unauthenticated_count > g->counts.unauthenticated_most)
        g->counts.unauthenticated_most = g->unauthenticated_count;
    server_watch(g, fd, p, EPOLLIN, EPOLL_CTL_ADD);
    server_receive(g, p); /* its first message may have arrived already */
}

/* Starts the process of a decoder unless it runs. Returns false if that fails. */
static bool start_decoder(struct server *g, struct decoder *decoder)
{
    if (decoder->worker.fd >= 0)
        return true;
    if (munge_worker_start(&decoder->worker, g->config.socket) < 0)
        return false;
    server_watch(g, decoder->worker.fd, decoder, EPOLLIN, EPOLL_CTL_ADD);
    return true;
}

/* Accepts connections, but not more than ACCEPTED_MAX, so that the nodes' messages are read, and
 * the memory of closed peers is freed, however many come. It does not wait for those that are
 * silent: while the kernel's queue of connections is full, no node can connect. */
static void accept_some(struct server *g)
{
    for (int i = 0; i < ACCEPTED_MAX && make_room(g) && g->listener >= 0; i++) {
        int fd = listener_accept(g->listener);
        if (fd < 0 && fd != -EAGAIN && fd != -ECONNABORTED && fd != -EINTR) {
            g->pause_ms = nuioa_clock_ms() + PAUSE_MS; /* out of file descriptors */
            server_set_accepting(g, false);
        }
        if (fd < 0)
            return;
        add_peer(g, fd);
    }
    if (!has_room(g))
        server_set_accepting(g, false);
}

static void drop_silent(struct server *g)
{
    int64_t before = nuioa_clock_ms() - SERVER_UNAUTHENTICATED_MS;
    while (g->unauthenticated.first && g->unauthenticated.first->since_ms <= before)
        server_drop(g, g->unauthenticated.first);
    if (nuioa_clock_ms() >= g->pause_ms)
        g->pause_ms = 0;
    if (!g->accepting && !g->pause_ms && has_room(g))
        server_set_accepting(g, true);
}

static void take_answer(struct server *g, struct decoder *decoder)
{
    struct peer *p = decoder->peer;
    int rc = munge_worker_answer(&decoder->worker, g->decoded);
    decoder->peer = NULL;
    decoder->busy = false;
    if (rc < 0) {
        munge_worker_stop(&decoder->worker);
        if (p)
            server_drop(g, p);
    } else if (p) {
        peer_forget_body(p);
        server_take_decoded(g, p, g->decoded);
    }
}

static void ask_decoders(struct server *g)
{
    for (int i = 0; i < MUNGE_WORKERS && g->queue.first; i++) {
        struct decoder *decoder = &g->decoders[i];
        if (decoder->busy)
            continue;
        if (i > 0 && decoder->worker.fd < 0 && g->unauthenticated_count < MANY_CREDENTIALS)
            continue; /* a fork of srun costs more than a few credentials */
        if (!start_decoder(g, decoder))
            continue;
        struct peer *p = g->queue.first;
        peer_move(p, &g->decoding);
        decoder->peer = p;
        decoder->busy = true;
        if (munge_worker_ask(&decoder->worker, p->body, p->frame.length) < 0)
            server_drop(g, p);
    }
}

/* --- the thread --- */

static int64_t sooner(int64_t ms, int64_t until)
{
    return ms && ms < until ? ms : until;
}

static int wait_ms(const struct server *g)
{
    int64_t now = nuioa_clock_ms(), until = now + SLEEP_MS;
    if (g->unauthenticated.first)
        until = sooner(g->unauthenticated.first->since_ms + SERVER_UNAUTHENTICATED_MS, until);
    if (g->phase == GATHERING)
        until = sooner(g->late_ms, sooner(g->accept_until_ms, until));
    until = sooner(g->pause_ms, sooner(g->flush_ms, until));
    return until <= now ? 1 : (int)(until - now);
}

static void dispatch(struct server *g, const struct epoll_event *event)
{
    if (event->data.ptr == &g->listener) {
        if (g->listener >= 0)
            accept_some(g);
        return;
    }
    for (int i = 0; i < MUNGE_WORKERS; i++)
        if (event->data.ptr == &g->decoders[i]) {
            if (g->decoders[i].worker.fd >= 0)
                take_answer(g, &g->decoders[i]);
            return;
        }
    serve(g, event->data.ptr, event->events);
}

static bool is_over(struct server *g)
{
    if (g->phase < DONE)
        return false;
    if (!g->flush_ms)
        g->flush_ms = nuioa_clock_ms() + FLUSH_MS;
    return !g->unsent || nuioa_clock_ms() >= g->flush_ms;
}

static void serve_all(struct server *g)
{
    struct epoll_event events[EVENTS];
    while (!is_over(g) && !__atomic_load_n(&g->stopping, __ATOMIC_ACQUIRE)) {
        int count = epoll_wait(g->epoll, events, EVENTS, wait_ms(g));
        if (count < 0 && errno != EINTR)
            break;
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr != &g->stop)
                dispatch(g, &events[i]);
        }
        drop_silent(g);
        ask_decoders(g);
        peer_free_all(&g->closed);
        if (server_is_late(g))
            server_give_up(g);
    }
}

/* Takes what has arrived when srun's step is over: a node sends its record before its ranks begin.
 * A peer that goes on sending does not keep srun. */
static void take_rest(struct server *g)
{
    struct epoll_event events[EVENTS];
    server_watch(g, g->stop, NULL, 0, EPOLL_CTL_DEL);
    for (uint32_t i = 0; i <= g->counts.nodes && g->phase == GATHERING; i++) {
        int count = epoll_wait(g->epoll, events, EVENTS, 0);
        if (count <= 0)
            return;
        for (int k = 0; k < count; k++)
            if (events[k].data.ptr != &g->stop)
                dispatch(g, &events[k]);
        ask_decoders(g);
        peer_free_all(&g->closed);
    }
}

static void *run(void *arg)
{
    struct server *g = arg;
    for (int i = 0; i < MUNGE_WORKERS; i++)
        g->decoders[i].worker = (struct munge_worker){ 0, -1 };
    g->decoded = malloc(sizeof(*g->decoded));
    if (g->decoded) {
        if (g->eager && g->config.encrypted)
            start_decoder(g, &g->decoders[0]);
        serve_all(g);
        take_rest(g);
        server_end(g);
    }
    server_stop_accepting(g);
    for (int i = 0; i < MUNGE_WORKERS; i++)
        munge_worker_stop(&g->decoders[i].worker);
    server_drop_all(g, &g->authenticated);
    peer_free_all(&g->closed);
    if (g->decoded)
        explicit_bzero(g->decoded, sizeof(*g->decoded));
    free(g->decoded);
    return NULL;
}

/* --- for srun --- */

static int make_token(struct server *g, uint16_t port)
{
    struct token token;
    int rc = token_make(&token, port, g->config.encrypted);
    if (rc < 0)
        return rc;
    hmac_key_set(&g->key, token.key, sizeof(token.key));
    token_write(&token, g->text);
    explicit_bzero(&token, sizeof(token));
    return 0;
}

int server_open(const struct server_config *config, struct server **server, struct nuioa_error *err)
{
    uint16_t port;
    struct server *g = *server = calloc(1, sizeof(*g));
    if (!g)
        return nuioa_fail(err, -ENOMEM, "gather: out of memory");
    g->config = *config;
    g->wanted.any_job = true;
    g->epoll = g->stop = -1; /* processes that srun forks before the start do not inherit them */
    g->listener = listener_open(config->port_first, config->port_last, &port);
    int rc = g->listener < 0 ? g->listener : make_token(g, port);
    if (rc < 0) {
        server_close(g);
        *server = NULL;
        return nuioa_fail(err, rc, "gather: cannot listen: %s", strerror(-rc));
    }
    return 0;
}

const char *server_text(const struct server *g)
{
    return g->text;
}

void server_expect(struct server *g, uint32_t job_id, uint32_t step_id, uint32_t node_count)
{
    g->wanted.any_job = job_id == UINT32_MAX;
    g->wanted.job_id = job_id;
    g->wanted.step_id = step_id;
    g->wanted.node_count = node_count;
}

static int open_events(struct server *g)
{
    g->epoll = epoll_create1(EPOLL_CLOEXEC);
    g->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (g->epoll < 0 || g->stop < 0)
        return -errno;
    g->accepting = true;
    server_watch(g, g->listener, &g->listener, EPOLLIN, EPOLL_CTL_ADD);
    server_watch(g, g->stop, &g->stop, EPOLLIN, EPOLL_CTL_ADD);
    return 0;
}

/* The thread blocks all signals, so that srun's own threads get them. */
static int start_thread(struct server *g)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&g->thread, NULL, run, g);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    g->started = !rc;
    return -rc;
}

int server_start(struct server *g, bool eager)
{
    if (g->started)
        return 0;
    g->eager = eager;
    g->accept_until_ms = g->config.accept_ms ? nuioa_clock_ms() + g->config.accept_ms : 0;
    int rc = server_has_room(g, g->wanted.node_count) ? open_events(g) : -E2BIG;
    if (!rc)
        rc = start_thread(g);
    if (rc < 0)
        server_close_listener(g); /* else nodes would connect and wait for nothing */
    return rc;
}

void server_wait(struct server *g)
{
    if (g->started)
        pthread_join(g->thread, NULL);
    g->started = false;
}

struct server_counts server_counts(const struct server *g)
{
    return g->counts;
}

void server_stop(struct server *g)
{
    uint64_t one = 1;
    __atomic_store_n(&g->stopping, true, __ATOMIC_RELEASE);
    /* If the thread cannot be woken, server_wait() waits until it wakes by itself. */
    ssize_t done = g->started ? write(g->stop, &one, sizeof(one)) : 0;
    (void)done;
    server_wait(g);
}

void server_close(struct server *g)
{
    if (!g)
        return;
    server_stop(g);
    server_close_listener(g);
    server_drop_all(g, &g->authenticated);
    peer_free_all(&g->closed);
    if (g->epoll >= 0)
        close(g->epoll);
    if (g->stop >= 0)
        close(g->stop);
    free(g->nodes);
    hwloc_bitmap_free(g->ranks);
    explicit_bzero(&g->key, sizeof(g->key));
    free(g);
}
