#include "spank/rendezvous/server_private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "spank/rendezvous/listener.h"

#define EVENTS 64
/* Credentials waiting that are worth a second process. */
#define MANY 8
/* A stranger that has said nothing for so long may have to make room. */
#define SILENCE_MS 50
/* For what is left to be sent, at the end. */
#define FLUSH_MS 1000

int64_t gather_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- peers -------------------------------------------------------------------------------------------- */

void gather_watch(struct gather *g, int fd, void *who, uint32_t events, int how)
{
    struct epoll_event event = { .events = events, .data.ptr = who };
    epoll_ctl(g->epoll, how, fd, &event);
}

void gather_let_in(struct gather *g, bool in)
{
    if (g->listener >= 0 && g->listening != in)
        gather_watch(g, g->listener, &g->listener, in ? EPOLLIN : 0, EPOLL_CTL_MOD);
    g->listening = in;
}

bool gather_is_stranger(const struct peer *p)
{
    return p->state <= PEER_SEALED;
}

/* It is freed only when no event can name it any more. */
void gather_drop(struct gather *g, struct peer *p)
{
    if (p->state == PEER_DEAD)
        return;
    for (int i = 0; i < OPENERS; i++)
        if (g->desks[i].peer == p)
            g->desks[i].peer = NULL;
    if (gather_is_stranger(p)) {
        g->stranger_count--;
        g->counts.refused++;
        gather_let_in(g, true);
    }
    g->unsent -= peer_unsent(p);
    gather_watch(g, p->fd, NULL, 0, EPOLL_CTL_DEL); /* closing is not enough: a child may hold a copy */
    close(p->fd);
    p->fd = -1;
    p->state = PEER_DEAD;
    peer_move(p, &g->dead);
}

static void drop_all(struct gather *g, struct peer_list *list)
{
    while (list->first)
        gather_drop(g, list->first);
}

void gather_send(struct gather *g, struct peer *p, uint32_t type, const void *body, size_t length,
                 const uint8_t digest[SHA256_SIZE])
{
    struct wire_frame frame = { WIRE_MAGIC, type, (uint32_t)length };
    uint8_t tag[WIRE_TAG_SIZE];
    const struct iovec parts[] = { { &frame, sizeof(frame) }, { (void *)body, length }, { tag, sizeof(tag) } };
    bool before = peer_unsent(p);
    tag_make(&p->key, WIRE_FROM_SRUN, &frame, digest, tag);
    int rc = peer_send(p, parts, 3);
    g->unsent += peer_unsent(p) - before;
    if (peer_unsent(p) && !before)
        gather_watch(g, p->fd, p, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
    if (rc < 0)
        shutdown(p->fd, SHUT_RDWR); /* its end is noticed where all ends are */
}

/* Processes that srun has forked may hold copies of it, for which closing ours is not enough. */
static void close_listener(struct gather *g)
{
    if (g->listener < 0)
        return;
    if (g->epoll >= 0)
        gather_watch(g, g->listener, NULL, 0, EPOLL_CTL_DEL);
    shutdown(g->listener, SHUT_RDWR);
    close(g->listener);
    g->listener = -1;
}

void gather_close_door(struct gather *g)
{
    close_listener(g);
    g->door_ms = 0;
    drop_all(g, &g->strangers);
    drop_all(g, &g->queue);
    drop_all(g, &g->opening);
    for (int i = 0; i < OPENERS; i++)
        opener_dismiss(&g->desks[i].opener);
}

static void serve(struct gather *g, struct peer *p, uint32_t events)
{
    if (events & EPOLLOUT && p->state != PEER_DEAD) {
        bool before = peer_unsent(p);
        int rc = peer_send(p, NULL, 0);
        g->unsent -= before - peer_unsent(p);
        if (!peer_unsent(p))
            gather_watch(g, p->fd, p, EPOLLIN, EPOLL_CTL_MOD);
        if (rc < 0)
            gather_lose(g, p, rc);
    }
    if (p->state == PEER_SEALED)
        gather_lose(g, p, -ECONNRESET); /* an error, or both ends closed: nothing else is watched for */
    else if (events & ~(uint32_t)EPOLLOUT && p->state != PEER_DEAD)
        gather_hear(g, p);
}

/* --- the door ----------------------------------------------------------------------------------------- */

/* False: no room now. */
static bool make_room(struct gather *g)
{
    struct peer *oldest = g->strangers.first;
    if (g->stranger_count < GATHER_STRANGERS_MAX)
        return true;
    if (!oldest || gather_now_ms() - oldest->since_ms < SILENCE_MS)
        return false;
    gather_drop(g, oldest);
    return true;
}

/* False: it must do without. */
static bool hire(struct gather *g, struct desk *desk)
{
    if (desk->opener.fd >= 0)
        return true;
    if (opener_start(&desk->opener, g->config.socket) < 0)
        return false;
    gather_watch(g, desk->opener.fd, desk, EPOLLIN, EPOLL_CTL_ADD);
    return true;
}

static void open_door(struct gather *g)
{
    while (g->listener >= 0 && make_room(g)) {
        int fd = listen_accept(g->listener);
        if (fd < 0 && fd != -EAGAIN && fd != -ECONNABORTED && fd != -EINTR) {
            g->pause_ms = gather_now_ms() + SILENCE_MS; /* out of descriptors */
            gather_let_in(g, false);
        }
        if (fd < 0)
            return;
        struct peer *p = peer_new(fd, gather_now_ms(), &g->key);
        if (!p) {
            close(fd);
            return;
        }
        peer_move(p, &g->strangers);
        if (++g->stranger_count > g->counts.strangers_most)
            g->counts.strangers_most = g->stranger_count;
        gather_watch(g, fd, p, EPOLLIN, EPOLL_CTL_ADD);
        gather_hear(g, p); /* a node may have spoken already */
        if (g->config.sealed)
            hire(g, &g->desks[0]); /* while the node's credential is being made */
    }
    gather_let_in(g, false);
}

static void send_away_silent(struct gather *g)
{
    int64_t before = gather_now_ms() - GATHER_STRANGER_MS;
    while (g->strangers.first && g->strangers.first->since_ms <= before)
        gather_drop(g, g->strangers.first);
    if (!g->listening && g->listener >= 0 && gather_now_ms() >= g->pause_ms && make_room(g)) {
        g->pause_ms = 0;
        gather_let_in(g, true);
    }
}

static void take_answer(struct gather *g, struct desk *desk)
{
    struct peer *p = desk->peer;
    int rc = opener_answer(&desk->opener, g->opened);
    desk->peer = NULL;
    desk->busy = false;
    if (rc < 0) {
        opener_stop(&desk->opener);
        if (p)
            gather_drop(g, p);
    } else if (p) {
        peer_forget_body(p);
        gather_take_opened(g, p, g->opened);
    }
}

static void ask_openers(struct gather *g)
{
    for (int i = 0; i < OPENERS && g->queue.first; i++) {
        struct desk *desk = &g->desks[i];
        if (desk->busy)
            continue;
        if (i > 0 && desk->opener.fd < 0 && g->stranger_count < MANY)
            continue; /* a fork of srun costs more than a few credentials */
        if (!hire(g, desk))
            continue;
        struct peer *p = g->queue.first;
        peer_move(p, &g->opening);
        desk->peer = p;
        desk->busy = true;
        if (opener_ask(&desk->opener, p->body, p->frame.length) < 0)
            gather_drop(g, p);
    }
}

/* --- the thread --------------------------------------------------------------------------------------- */

static int wait_ms(const struct gather *g)
{
    int64_t now = gather_now_ms(), until = INT64_MAX;
    if (g->strangers.first)
        until = g->strangers.first->since_ms + (g->listening ? GATHER_STRANGER_MS : SILENCE_MS);
    if (g->give_up_ms && g->give_up_ms < until && g->phase == GATHERING)
        until = g->give_up_ms;
    if (g->until_ms && g->until_ms < until && g->phase == GATHERING)
        until = g->until_ms;
    if (g->door_ms && g->door_ms < until && g->phase == GATHERING)
        until = g->door_ms;
    if (g->pause_ms && g->pause_ms < until)
        until = g->pause_ms;
    if (g->flush_ms && g->flush_ms < until)
        until = g->flush_ms;
    return until == INT64_MAX ? -1 : until <= now ? 1 : (int)(until - now);
}

static void dispatch(struct gather *g, const struct epoll_event *event)
{
    if (event->data.ptr == &g->listener) {
        if (g->listener >= 0)
            open_door(g);
        return;
    }
    for (int i = 0; i < OPENERS; i++)
        if (event->data.ptr == &g->desks[i]) {
            if (g->desks[i].opener.fd >= 0)
                take_answer(g, &g->desks[i]);
            return;
        }
    serve(g, event->data.ptr, event->events);
}

static bool is_over(struct gather *g)
{
    if (g->phase < DONE)
        return false;
    if (!g->flush_ms)
        g->flush_ms = gather_now_ms() + FLUSH_MS;
    return !g->unsent || gather_now_ms() >= g->flush_ms;
}

static void serve_all(struct gather *g)
{
    struct epoll_event events[EVENTS];
    while (!is_over(g)) {
        int count = epoll_wait(g->epoll, events, EVENTS, wait_ms(g));
        if (count < 0 && errno != EINTR)
            break;
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == &g->stop)
                return;
            dispatch(g, &events[i]);
        }
        send_away_silent(g);
        ask_openers(g);
        peer_free_all(&g->dead);
        if (gather_is_late(g))
            gather_give_up(g);
    }
}

static void *run(void *arg)
{
    struct gather *g = arg;
    for (int i = 0; i < OPENERS; i++)
        g->desks[i].opener = (struct opener){ 0, -1 };
    g->opened = malloc(sizeof(*g->opened));
    if (g->opened) {
        if (g->eager && g->config.sealed)
            hire(g, &g->desks[0]);
        serve_all(g);
        gather_say_what_lacks(g);
    }
    gather_close_door(g);
    for (int i = 0; i < OPENERS; i++)
        opener_stop(&g->desks[i].opener);
    drop_all(g, &g->known);
    peer_free_all(&g->dead);
    if (g->opened)
        explicit_bzero(g->opened, sizeof(*g->opened));
    free(g->opened);
    return NULL;
}

/* --- for srun ----------------------------------------------------------------------------------------- */

static int invite(struct gather *g, uint16_t port)
{
    struct invitation invitation;
    int rc = invitation_make(&invitation, port, g->config.sealed);
    if (rc < 0)
        return rc;
    hmac_key_set(&g->key, invitation.key, sizeof(invitation.key));
    invitation_write(&invitation, g->text);
    explicit_bzero(&invitation, sizeof(invitation));
    return 0;
}

int gather_open(const struct gather_config *config, struct gather **gather, struct nuioa_error *err)
{
    uint16_t port;
    struct gather *g = *gather = calloc(1, sizeof(*g));
    if (!g)
        return nuioa_fail(err, -ENOMEM, "gather: out of memory");
    g->config = *config;
    g->wanted.any_job = true;
    g->epoll = g->stop = -1; /* what srun forks before the start does not hold them */
    g->listener = listen_open(config->port_first, config->port_last, &port);
    int rc = g->listener < 0 ? g->listener : invite(g, port);
    if (rc < 0) {
        gather_close(g);
        *gather = NULL;
        return nuioa_fail(err, rc, "gather: cannot listen: %s", strerror(-rc));
    }
    return 0;
}

const char *gather_text(const struct gather *g)
{
    return g->text;
}

void gather_expect(struct gather *g, uint32_t job_id, uint32_t step_id, uint32_t node_count)
{
    g->wanted.any_job = job_id == UINT32_MAX;
    g->wanted.job_id = job_id;
    g->wanted.step_id = step_id;
    g->wanted.node_count = node_count;
}

static int open_events(struct gather *g)
{
    g->epoll = epoll_create1(EPOLL_CLOEXEC);
    g->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (g->epoll < 0 || g->stop < 0)
        return -errno;
    g->listening = true;
    gather_watch(g, g->listener, &g->listener, EPOLLIN, EPOLL_CTL_ADD);
    gather_watch(g, g->stop, &g->stop, EPOLLIN, EPOLL_CTL_ADD);
    return 0;
}

/* Signals are srun's. */
static int start_thread(struct gather *g)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&g->thread, NULL, run, g);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    g->started = !rc;
    return -rc;
}

int gather_start(struct gather *g, bool eager)
{
    if (g->started)
        return 0;
    g->eager = eager;
    g->door_ms = g->config.door_ms ? gather_now_ms() + g->config.door_ms : 0;
    int rc = open_events(g);
    if (!rc)
        rc = start_thread(g);
    if (rc < 0)
        close_listener(g); /* nodes would wait there for nobody */
    return rc;
}

void gather_wait(struct gather *g)
{
    if (g->started)
        pthread_join(g->thread, NULL);
    g->started = false;
}

struct gather_counts gather_counts(const struct gather *g)
{
    return g->counts;
}

void gather_stop(struct gather *g)
{
    uint64_t one = 1;
    if (g->started && write(g->stop, &one, sizeof(one)) == sizeof(one))
        gather_wait(g);
}

void gather_close(struct gather *g)
{
    if (!g)
        return;
    gather_stop(g);
    close_listener(g);
    if (g->epoll >= 0)
        close(g->epoll);
    if (g->stop >= 0)
        close(g->stop);
    free(g->nodes);
    free(g->leaders);
    explicit_bzero(&g->key, sizeof(g->key));
    free(g);
}
