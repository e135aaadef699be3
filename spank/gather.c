#include "gather.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "hello.h"
#include "leaders.h"
#include "listen.h"
#include "opener.h"
#include "peer.h"

/* Two, for munged answers with two threads if nobody tells it otherwise. */
#define OPENERS 2
#define EVENTS 64
/* A stranger that has said nothing for so long may have to make room. */
#define SILENCE_MS 50
/* For what is left to be sent, at the end. */
#define FLUSH_MS 1000

enum phase { GATHERING, TABLED, DONE, FAILED };

struct desk {
    struct opener opener;
    struct peer *peer; /* whose credential is being opened; NULL: none, or one that is gone */
    bool busy;
};

struct gather {
    struct gather_config config;
    char text[8 + 2 * WIRE_KEY_SIZE];
    struct hello_wanted wanted;
    int listener, epoll, stop;
    bool listening; /* strangers are let in at present */
    bool started;
    pthread_t thread;

    enum phase phase;
    struct gather_counts counts;
    uint32_t haves;
    int64_t give_up_ms, flush_ms, pause_ms; /* 0: not set */
    struct nuioa_error trouble;    /* why it is to be given up */
    bool warned;
    struct peer **nodes;           /* by place in the step; NULL: not heard of */
    uint32_t *leaders;
    bool leaderless;               /* some node has no leader: no table */
    void *table;                   /* sent to all */
    size_t table_length;
    struct peer_list strangers, queue, opening, known, dead;
    uint32_t stranger_count, unsent;
    struct desk desks[OPENERS];
    struct opened *opened;
};

static const struct wire_frame go = { WIRE_MAGIC, WIRE_GO, 0 };
static const struct wire_frame stop = { WIRE_MAGIC, WIRE_STOP, 0 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- peers -------------------------------------------------------------------------------------------- */

static void watch(struct gather *g, int fd, void *who, uint32_t events, int how)
{
    struct epoll_event event = { .events = events, .data.ptr = who };
    epoll_ctl(g->epoll, how, fd, &event);
}

static void let_in(struct gather *g, bool in)
{
    if (g->listener >= 0 && g->listening != in)
        watch(g, g->listener, &g->listener, in ? EPOLLIN : 0, EPOLL_CTL_MOD);
    g->listening = in;
}

static bool is_stranger(const struct peer *p)
{
    return p->state <= PEER_SEALED;
}

/* It is freed only when no event can name it any more. */
static void drop(struct gather *g, struct peer *p)
{
    if (p->state == PEER_DEAD)
        return;
    for (int i = 0; i < OPENERS; i++)
        if (g->desks[i].peer == p)
            g->desks[i].peer = NULL;
    if (is_stranger(p)) {
        g->stranger_count--;
        g->counts.refused++;
        let_in(g, true);
    }
    g->unsent -= peer_unsent(p);
    watch(g, p->fd, NULL, 0, EPOLL_CTL_DEL); /* closing is not enough: a child may hold a copy */
    close(p->fd);
    p->fd = -1;
    p->state = PEER_DEAD;
    peer_move(p, &g->dead);
}

static void drop_all(struct gather *g, struct peer_list *list)
{
    while (list->first)
        drop(g, list->first);
}

static void send_to(struct gather *g, struct peer *p, const void *bytes, size_t length)
{
    bool before = peer_unsent(p);
    int rc = peer_send(p, bytes, length);
    g->unsent += peer_unsent(p) - before;
    if (peer_unsent(p) && !before)
        watch(g, p->fd, p, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
    if (rc < 0)
        shutdown(p->fd, SHUT_RDWR); /* its end is noticed where all ends are */
}

static void close_door(struct gather *g)
{
    if (g->listener >= 0)
        close(g->listener);
    g->listener = -1;
    drop_all(g, &g->strangers);
    drop_all(g, &g->queue);
    drop_all(g, &g->opening);
    for (int i = 0; i < OPENERS; i++)
        opener_stop(&g->desks[i].opener);
}

/* --- the end ------------------------------------------------------------------------------------------ */

static void fail(struct gather *g, const char *what)
{
    char text[400];
    if (g->phase >= DONE)
        return;
    g->phase = FAILED;
    for (struct peer *p = g->known.first; p; p = p->next)
        send_to(g, p, &stop, sizeof(stop));
    close_door(g);
    snprintf(text, sizeof(text), "gather: %s (%u of %u nodes answered): each node knows its own leader only",
             what, g->counts.records, g->counts.nodes);
    if (!g->warned)
        g->config.warn(g->config.arg, text);
}

/* Anybody may have caused it, so it stops nobody for as long as one waits for a node anyway. */
static void expect_failure(struct gather *g, const char *what)
{
    if (g->give_up_ms || g->phase != GATHERING)
        return;
    g->give_up_ms = now_ms() + g->config.timeout_ms;
    nuioa_fail(&g->trouble, -EIO, "%s", what);
}

/* As long as no node has come, one may still come. */
static void give_up(struct gather *g)
{
    char text[400];
    g->give_up_ms = 0;
    if (g->counts.hellos) {
        fail(g, g->trouble.text);
    } else if (!g->warned) {
        snprintf(text, sizeof(text), "gather: %s: each node knows its own leader only", g->trouble.text);
        g->config.warn(g->config.arg, text);
        g->warned = true;
    }
}

static void finish(struct gather *g)
{
    g->phase = DONE;
    g->counts.tables = 1;
    g->config.finish(g->config.arg);
    for (struct peer *p = g->known.first; p; p = p->next)
        send_to(g, p, &go, sizeof(go));
}

static void hand_out(struct gather *g)
{
    struct wire_frame frame = { WIRE_MAGIC, WIRE_TABLE, 0 };
    if (g->leaderless) {
        g->table = malloc(sizeof(frame));
        g->table_length = sizeof(frame);
        if (g->table)
            memcpy(g->table, &frame, sizeof(frame));
    } else {
        g->table = leaders_pack(g->wanted.job_id, g->wanted.step_id, g->leaders, g->counts.nodes, &g->table_length);
    }
    if (!g->table) {
        fail(g, "out of memory");
        return;
    }
    g->phase = TABLED;
    close_door(g); /* nobody is missing */
    for (struct peer *p = g->known.first; p; p = p->next)
        send_to(g, p, g->table, g->table_length);
}

static void lose(struct gather *g, struct peer *p)
{
    bool stranger = is_stranger(p), ours = g->phase < DONE;
    char what[128];
    snprintf(what, sizeof(what), "node number %u of the step has hung up", p->node);
    drop(g, p);
    if (!stranger && ours)
        fail(g, what);
}

/* --- messages ----------------------------------------------------------------------------------------- */

static int begin_step(struct gather *g, const struct wire_hello *hello)
{
    g->nodes = calloc(hello->node_count, sizeof(*g->nodes));
    g->leaders = calloc(hello->node_count, sizeof(*g->leaders));
    if (!g->nodes || !g->leaders)
        return -ENOMEM;
    g->wanted.job_id = hello->job_id;
    g->wanted.any_job = false;
    g->counts.nodes = g->wanted.node_count = hello->node_count;
    return 0;
}

static void send_slice(struct gather *g, struct peer *p, const struct opened *opened,
                       const struct wire_hello *hello)
{
    size_t length = 0;
    uint32_t *ranks = malloc((hello->rank_count + 1) * sizeof(*ranks));
    void *slice = NULL;
    if (ranks) {
        memcpy(ranks, opened->bytes + sizeof(*hello), hello->rank_count * sizeof(*ranks));
        slice = g->config.slice ? g->config.slice(g->config.arg, ranks, hello->rank_count, &length) : NULL;
    }
    struct wire_frame frame = { WIRE_MAGIC, WIRE_SLICE, (uint32_t)length };
    send_to(g, p, &frame, sizeof(frame));
    if (slice)
        send_to(g, p, slice, length);
    free(slice);
    free(ranks);
}

static void take_hello(struct gather *g, struct peer *p, const struct opened *opened)
{
    struct wire_hello hello;
    if (opened->rc == -EIO)
        expect_failure(g, opened->error);
    if (!hello_read(&g->wanted, opened, &hello) || (!g->nodes && begin_step(g, &hello) < 0) ||
        g->nodes[hello.node]) {
        drop(g, p);
        return;
    }
    g->stranger_count--;
    let_in(g, true);
    g->counts.hellos++;
    p->node = hello.node;
    p->state = PEER_KNOWN;
    g->nodes[p->node] = p;
    peer_move(p, &g->known);
    watch(g, p->fd, p, EPOLLIN, EPOLL_CTL_MOD);
    send_to(g, p, hello.node_key, WIRE_KEY_SIZE);
    if (hello.rank_count)
        send_slice(g, p, opened, &hello);
}

static void take_record(struct gather *g, struct peer *p)
{
    struct record record;
    if (record_read(p->body, p->frame.length, &record) < 0 || record.head->node != p->node) {
        lose(g, p);
        return;
    }
    p->state = PEER_RECORDED;
    g->leaders[p->node] = record.head->leader;
    g->leaderless = g->leaderless || record.head->leader == WIRE_NO_RANK;
    g->config.record(g->config.arg, &record);
    if (++g->counts.records == g->counts.nodes)
        hand_out(g);
}

static void take_have(struct gather *g, struct peer *p)
{
    p->state = PEER_READY;
    if (++g->haves == g->counts.nodes)
        finish(g);
}

static void take_sorry(struct gather *g, struct peer *p)
{
    expect_failure(g, "a node has no credential from MUNGE");
    drop(g, p);
}

static void take_credential(struct gather *g, struct peer *p)
{
    if (!p->frame.length || p->body[p->frame.length - 1]) {
        drop(g, p);
        return;
    }
    p->state = PEER_SEALED;
    peer_move(p, &g->queue);
    watch(g, p->fd, p, 0, EPOLL_CTL_MOD); /* its record may be there already, which is not read now */
}

static void take_message(struct gather *g, struct peer *p)
{
    switch (p->frame.type) {
    case WIRE_HELLO:
        take_credential(g, p);
        return; /* its body is needed */
    case WIRE_SORRY:
        take_sorry(g, p);
        break;
    case WIRE_RECORD:
        take_record(g, p);
        break;
    default:
        take_have(g, p);
        break;
    }
    peer_forget_body(p);
}

/* The longest body that may come now; -1: not this type, not now. */
static int64_t limit(const struct gather *g, const struct peer *p)
{
    if (p->state == PEER_KNOCKING && p->frame.type == WIRE_HELLO)
        return WIRE_HELLO_MAX - (int64_t)sizeof(p->frame);
    if (p->state == PEER_KNOCKING && p->frame.type == WIRE_SORRY)
        return 0;
    if (p->state == PEER_KNOWN && p->frame.type == WIRE_RECORD && g->phase == GATHERING)
        return WIRE_RECORD_MAX;
    if (p->state == PEER_RECORDED && p->frame.type == WIRE_HAVE && g->phase == TABLED)
        return 0;
    return -1;
}

static void hear(struct gather *g, struct peer *p)
{
    int rc = 0;
    while (p->state != PEER_SEALED && p->state != PEER_DEAD && (rc = peer_receive(p)) > 0) {
        if (rc == PEER_FRAME)
            rc = p->frame.magic == WIRE_MAGIC && limit(g, p) >= (int64_t)p->frame.length
                     ? peer_expect_body(p)
                     : -EPROTO;
        if (rc < 0)
            break;
        if (rc == PEER_MESSAGE)
            take_message(g, p);
    }
    if (p->state != PEER_DEAD && rc < 0)
        lose(g, p);
}

static void serve(struct gather *g, struct peer *p, uint32_t events)
{
    if (events & EPOLLOUT && p->state != PEER_DEAD) {
        bool before = peer_unsent(p);
        int rc = peer_send(p, NULL, 0);
        g->unsent -= before - peer_unsent(p);
        if (!peer_unsent(p))
            watch(g, p->fd, p, EPOLLIN, EPOLL_CTL_MOD);
        if (rc < 0)
            lose(g, p);
    }
    if (p->state == PEER_SEALED)
        lose(g, p); /* an error, or both ends closed: nothing else is watched for */
    else if (events & ~(uint32_t)EPOLLOUT && p->state != PEER_DEAD)
        hear(g, p);
}

/* --- the door ----------------------------------------------------------------------------------------- */

/* False: no room now. */
static bool make_room(struct gather *g)
{
    struct peer *oldest = g->strangers.first;
    if (g->stranger_count < GATHER_STRANGERS_MAX)
        return true;
    if (!oldest || now_ms() - oldest->since_ms < SILENCE_MS)
        return false;
    drop(g, oldest);
    return true;
}

static void open_door(struct gather *g)
{
    while (make_room(g)) {
        int fd = listen_accept(g->listener);
        if (fd < 0 && fd != -EAGAIN && fd != -ECONNABORTED && fd != -EINTR) {
            g->pause_ms = now_ms() + SILENCE_MS; /* out of descriptors */
            let_in(g, false);
        }
        if (fd < 0)
            return;
        struct peer *p = peer_new(fd, now_ms());
        if (!p) {
            close(fd);
            return;
        }
        peer_move(p, &g->strangers);
        if (++g->stranger_count > g->counts.strangers_most)
            g->counts.strangers_most = g->stranger_count;
        watch(g, fd, p, EPOLLIN, EPOLL_CTL_ADD);
        hear(g, p); /* a node has spoken already */
    }
    let_in(g, false);
}

static void send_away_silent(struct gather *g)
{
    int64_t before = now_ms() - GATHER_STRANGER_MS;
    while (g->strangers.first && g->strangers.first->since_ms <= before)
        drop(g, g->strangers.first);
    if (!g->listening && g->listener >= 0 && now_ms() >= g->pause_ms && make_room(g)) {
        g->pause_ms = 0;
        let_in(g, true);
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
            drop(g, p);
    } else if (p) {
        peer_forget_body(p);
        take_hello(g, p, g->opened);
    }
}

static void ask_openers(struct gather *g)
{
    for (int i = 0; i < OPENERS && g->queue.first; i++) {
        struct desk *desk = &g->desks[i];
        if (desk->busy)
            continue;
        if (desk->opener.fd < 0) { /* the first credential, or the child has died */
            if (opener_start(&desk->opener, g->config.socket) < 0)
                continue;
            watch(g, desk->opener.fd, desk, EPOLLIN, EPOLL_CTL_ADD);
        }
        struct peer *p = g->queue.first;
        peer_move(p, &g->opening);
        desk->peer = p;
        desk->busy = true;
        if (opener_ask(&desk->opener, p->body, p->frame.length) < 0)
            drop(g, p);
    }
}

/* --- the thread --------------------------------------------------------------------------------------- */

static int wait_ms(const struct gather *g)
{
    int64_t now = now_ms(), until = INT64_MAX;
    if (g->strangers.first)
        until = g->strangers.first->since_ms + (g->listening ? GATHER_STRANGER_MS : SILENCE_MS);
    if (g->give_up_ms && g->give_up_ms < until && g->phase == GATHERING)
        until = g->give_up_ms;
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
        g->flush_ms = now_ms() + FLUSH_MS;
    return !g->unsent || now_ms() >= g->flush_ms;
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
        if (g->give_up_ms && g->phase == GATHERING && now_ms() >= g->give_up_ms)
            give_up(g);
    }
}

static void *run(void *arg)
{
    struct gather *g = arg;
    for (int i = 0; i < OPENERS; i++)
        g->desks[i].opener = (struct opener){ 0, -1 };
    g->opened = malloc(sizeof(*g->opened));
    if (g->opened)
        serve_all(g);
    close_door(g);
    drop_all(g, &g->known);
    peer_free_all(&g->dead);
    free(g->opened);
    return NULL;
}

/* --- for srun ----------------------------------------------------------------------------------------- */

static int make_text(struct gather *g, uint16_t port)
{
    if (getrandom(g->wanted.key, WIRE_KEY_SIZE, 0) != WIRE_KEY_SIZE)
        return -EIO;
    int at = snprintf(g->text, sizeof(g->text), "%u:", port);
    for (int i = 0; i < WIRE_KEY_SIZE; i++)
        at += snprintf(g->text + at, sizeof(g->text) - (size_t)at, "%02x", g->wanted.key[i]);
    return 0;
}

int gather_open(const struct gather_config *config, struct gather **gather, struct nuioa_error *err)
{
    uint16_t port;
    struct gather *g = *gather = calloc(1, sizeof(*g));
    if (!g)
        return nuioa_fail(err, -ENOMEM, "gather: out of memory");
    g->config = *config;
    g->wanted.uid = config->uid;
    g->wanted.any_job = true;
    g->listener = listen_open(config->port_first, config->port_last, &port);
    g->epoll = epoll_create1(EPOLL_CLOEXEC);
    g->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = g->listener < 0 ? g->listener : g->epoll < 0 || g->stop < 0 ? -errno : make_text(g, port);
    if (rc < 0) {
        gather_close(g);
        *gather = NULL;
        return nuioa_fail(err, rc, "gather: cannot listen: %s", strerror(-rc));
    }
    g->listening = true;
    watch(g, g->listener, &g->listener, EPOLLIN, EPOLL_CTL_ADD);
    watch(g, g->stop, &g->stop, EPOLLIN, EPOLL_CTL_ADD);
    return 0;
}

const char *gather_text(const struct gather *g)
{
    return g->text;
}

void gather_expect(struct gather *g, uint32_t job_id, uint32_t step_id)
{
    g->wanted.any_job = job_id == UINT32_MAX;
    g->wanted.job_id = job_id;
    g->wanted.step_id = step_id;
}

/* Signals are srun's. */
int gather_start(struct gather *g)
{
    sigset_t all, before;
    if (g->started)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&g->thread, NULL, run, g);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    g->started = !rc;
    return -rc;
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
    if (g->listener >= 0)
        close(g->listener);
    if (g->epoll >= 0)
        close(g->epoll);
    if (g->stop >= 0)
        close(g->stop);
    free(g->nodes);
    free(g->leaders);
    free(g->table);
    free(g);
}
