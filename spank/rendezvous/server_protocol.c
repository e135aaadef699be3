/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/server_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "util/clock.h"

/* How srun answers the messages of the nodes, and how the exchange ends. */

/* --- the end --- */

/* Writes the numbers of the nodes that have not called, or if these are too long how many they
 * are. */
static void number_absent(const struct server *g, char *text, uint32_t size)
{
    char list[32];
    hwloc_bitmap_t absent = hwloc_bitmap_alloc();
    for (uint32_t i = 0; absent && i < g->counts.nodes; i++)
        if (!g->nodes[i])
            hwloc_bitmap_set(absent, i);
    uint32_t count = g->counts.nodes - g->counts.hellos;
    if (absent && hwloc_bitmap_list_snprintf(list, sizeof(list), absent) < (int)sizeof(list))
        snprintf(text, size, "node%s number %s of the step", count > 1 ? "s" : "", list);
    else
        snprintf(text, size, "%u nodes of the step", count);
    hwloc_bitmap_free(absent);
}

/* Writes the names of the nodes whose record has not come; "": they are not known. */
static const char *absent_nodes(const struct server *g, char *names, uint32_t size)
{
    *names = '\0';
    if (g->config.absent)
        g->config.absent(g->config.arg, names, size);
    return names;
}

/* This advice is for nodes that have not called. They also do not where Slurm could not start the
 * step there, for instance for a wrong binding: it prints why, but tells no plugin of srun's. */
#define UNLESS "unless Slurm or a node says why"
#define INSTALL "with its line in plugstack.conf; where it is installed, slurmd.log says why"

static void warn(struct server *g, const char *what, const char *consequence)
{
    char text[500];
    snprintf(text, sizeof(text), "gather: %s (%u of %u nodes answered): %s", what,
             g->counts.records, g->counts.nodes, consequence);
    if (!g->warned)
        g->config.warn(g->config.arg, text);
    g->warned = true;
}

static void fail(struct server *g, const char *what)
{
    g->phase = FAILED;
    server_stop_accepting(g);
    warn(g, what, WIRE_CONSEQUENCE);
}

/* Reports what the nodes have told. `what` says why some of them are missing; NULL: none is. */
static void finish(struct server *g, const char *what)
{
    g->phase = DONE;
    server_stop_accepting(g);
    if (what)
        warn(g, what, g->config.reports ? "the report is of the others" : "the others are placed");
    g->config.finish(g->config.arg);
}

/* Says which nodes have not even called: they have no plugin, or cannot reach srun. */
static void blame_absent(const struct server *g, bool ended, struct nuioa_error *what)
{
    char names[64];
    if (!*absent_nodes(g, names, sizeof(names)))
        number_absent(g, names, sizeof(names));
    nuioa_fail(what, -ENOENT, "no call from %s %s; " UNLESS ", install nuioa there, " INSTALL,
               names, ended ? "before the step ended" : "in time (timeout_ms)");
}

/* Finishes with the nodes that have come. The known trouble, if any, explains more than the time
 * does, or than that the step has ended. */
static void finish_with_some(struct server *g, bool ended)
{
    struct nuioa_error what = g->trouble;
    if (!*what.text && g->counts.hellos < g->counts.nodes)
        blame_absent(g, ended, &what);
    else if (!*what.text)
        nuioa_fail(&what, -ETIMEDOUT, "not all nodes have come in time (timeout_ms)");
    if (g->counts.records)
        finish(g, what.text);
    else
        fail(g, what.text);
}

/* The exchange waits no longer than until `ms`. */
static void be_late_at(struct server *g, int64_t ms)
{
    if (!g->late_ms || ms < g->late_ms)
        g->late_ms = ms;
}

/* Notes a reason why nodes may be missing. A peer that knows only the step's key may have caused
 * it, so the other nodes still get the usual time. */
static void expect_failure(struct server *g, const char *what)
{
    if (g->phase != GATHERING)
        return;
    if (!*g->trouble.text)
        nuioa_fail(&g->trouble, -EIO, "%s", what);
    be_late_at(g, nuioa_clock_ms() + g->config.timeout_ms);
}

static bool is_past(int64_t ms)
{
    return ms && nuioa_clock_ms() >= ms;
}

bool server_is_late(const struct server *g)
{
    return g->phase == GATHERING && (is_past(g->late_ms) || is_past(g->accept_until_ms));
}

static void warn_trouble(struct server *g)
{
    char text[400];
    if (g->warned || !*g->trouble.text)
        return;
    snprintf(text, sizeof(text), "gather: %s: %s", g->trouble.text, WIRE_CONSEQUENCE);
    g->config.warn(g->config.arg, text);
    g->warned = true;
}

/* Without any hello, nodes may still connect until accept_until_ms. */
void server_give_up(struct server *g)
{
    g->late_ms = 0;
    if (g->counts.hellos) {
        finish_with_some(g, false);
        return;
    }
    warn_trouble(g);
    if (is_past(g->accept_until_ms))
        g->phase = FAILED;
}

/* Nodes are named as absent only if nobody's first message is still being looked at. A node that
 * has called and sent no record was not late: the step was ended while it was launched. */
void server_end(struct server *g)
{
    bool absent = g->counts.hellos < g->counts.nodes && !g->unauthenticated_count;
    if (g->phase == GATHERING && g->counts.records) {
        if (*g->trouble.text || absent)
            finish_with_some(g, true);
        else
            finish(g, g->config.reports ? "the step ended before all nodes had answered" : NULL);
    }
    if (g->phase == GATHERING)
        warn_trouble(g);
    if (g->counts.hellos || g->unauthenticated_count || g->warned ||
        !(g->config.reports || g->config.asked))
        return;
    char text[400], names[64];
    absent_nodes(g, names, sizeof(names));
    snprintf(text, sizeof(text),
             "%s: no node of the step has called srun%s: " UNLESS ", install nuioa on %s, " INSTALL,
             g->config.reports ? "report" : "gather",
             g->config.reports ? ", so there is no report of all nodes" : "",
             *names ? names : "its nodes");
    g->config.warn(g->config.arg, text);
}

/* Finishes if no record is missing that can still arrive. */
static void finish_if_complete(struct server *g)
{
    if (g->phase != GATHERING || g->counts.records + g->records_missing < g->counts.nodes)
        return;
    if (g->records_missing)
        finish_with_some(g, false);
    else
        finish(g, NULL);
}

void server_peer_failed(struct server *g, struct peer *p, int rc)
{
    bool missing = p->state == PEER_AUTHENTICATED && g->phase == GATHERING;
    if (missing && !g->records_missing++)
        nuioa_fail(&g->trouble, -EPIPE, "node number %u of the step %s", p->node,
                   rc == -EBADMSG ? "sent a message that is forged or modified"
                                  : "closed the connection");
    server_drop(g, p);
    if (missing) {
        be_late_at(g, nuioa_clock_ms() + g->config.timeout_ms);
        finish_if_complete(g);
    }
}

/* --- messages --- */

static int begin_step(struct server *g, const struct wire_hello *hello)
{
    g->counts.nodes = hello->node_count;
    if (!g->wanted.node_count && !server_has_room(g, hello->node_count)) {
        fail(g, "srun may open too few files to connect to all nodes; raise ulimit -Hn");
        return -E2BIG;
    }
    g->nodes = calloc(hello->node_count, sizeof(*g->nodes));
    g->ranks = hwloc_bitmap_alloc();
    if (!g->nodes || !g->ranks) {
        free(g->nodes);
        hwloc_bitmap_free(g->ranks);
        g->nodes = NULL; /* the next hello begins the step */
        g->ranks = NULL;
        return -ENOMEM;
    }
    g->wanted.job_id = hello->job_id;
    g->wanted.any_job = false;
    g->wanted.node_count = hello->node_count;
    return 0;
}

/* Makes the slice for a hello; `bytes` is its body with the ranks. malloc'd, caller frees; NULL:
 * none. */
static void *make_slice(struct server *g, const struct wire_hello *hello, const char *bytes,
                        size_t *length)
{
    uint32_t *ranks =
        hello->rank_count && g->config.slice ? malloc(hello->rank_count * sizeof(*ranks)) : NULL;
    void *slice = NULL;
    if (ranks) {
        memcpy(ranks, bytes + sizeof(*hello), hello->rank_count * sizeof(*ranks));
        slice = g->config.slice(g->config.arg, ranks, hello->rank_count, length);
    }
    free(ranks);
    return slice;
}

static void send_welcome(struct server *g, struct peer *p, const struct wire_hello *hello,
                         const char *bytes)
{
    size_t length = 0;
    uint8_t digest[SHA256_SIZE];
    void *slice = make_slice(g, hello, bytes, &length);
    if (!slice)
        length = 0;
    sha256_of(slice, length, digest);
    server_send(g, p, WIRE_WELCOME, slice, length, digest);
    free(slice);
}

/* Notes the ranks of a hello, whose body is `bytes`. Returns false if another node has one of them:
 * each rank's slice is then in memory once, whoever knows the step's key and reads none of them. */
static bool take_ranks(struct server *g, const struct wire_hello *hello, const char *bytes)
{
    uint32_t ranks[WIRE_TASKS_MAX];
    memcpy(ranks, bytes + sizeof(*hello), hello->rank_count * sizeof(*ranks));
    for (uint32_t i = 0; i < hello->rank_count; i++)
        if (hwloc_bitmap_isset(g->ranks, ranks[i]))
            return false;
    for (uint32_t i = 0; i < hello->rank_count; i++)
        if (hwloc_bitmap_set(g->ranks, ranks[i]) < 0)
            return false;
    return true;
}

static void take_hello(struct server *g, struct peer *p, const char *bytes, size_t length)
{
    struct wire_hello hello;
    if (!hello_read(&g->wanted, bytes, length, &hello) ||
        (!g->nodes && begin_step(g, &hello) < 0) || g->nodes[hello.node] ||
        !take_ranks(g, &hello, bytes)) {
        server_drop(g, p);
        return;
    }
    g->unauthenticated_count--;
    server_set_accepting(g, true);
    g->counts.hellos++;
    p->node = hello.node;
    p->state = PEER_AUTHENTICATED;
    g->nodes[p->node] = p;
    peer_move(p, &g->authenticated);
    server_watch(g, p->fd, p, EPOLLIN, EPOLL_CTL_MOD);
    tag_session(&p->key, &g->key, &hello);
    send_welcome(g, p, &hello, bytes);
    explicit_bzero(hello.nonce, sizeof(hello.nonce));
    if (g->counts.hellos == g->counts.nodes)
        server_stop_accepting(g); /* all nodes are here */
}

void server_take_decoded(struct server *g, struct peer *p, const struct munge_answer *decoded)
{
    if (decoded->rc == -EIO)
        expect_failure(g, decoded->error);
    if (decoded->rc < 0 || decoded->uid != g->config.uid)
        server_drop(g, p);
    else
        take_hello(g, p, decoded->bytes, decoded->length);
}

static void take_record(struct server *g, struct peer *p)
{
    struct record record;
    if (record_read(p->body, p->frame.length, &record) < 0 || record.head->node != p->node) {
        server_peer_failed(g, p, -EPROTO);
        return;
    }
    p->state = PEER_RECORDED;
    be_late_at(g, nuioa_clock_ms() + g->config.timeout_ms);
    g->config.record(g->config.arg, &record);
    g->counts.records++;
    finish_if_complete(g);
}

static void take_no_credential(struct server *g, struct peer *p)
{
    expect_failure(g, "a node has no credential from MUNGE");
    server_drop(g, p);
}

static void take_credential(struct server *g, struct peer *p)
{
    if (!p->frame.length || p->body[p->frame.length - 1]) {
        server_drop(g, p);
        return;
    }
    p->state = PEER_CREDENTIAL;
    peer_move(p, &g->queue);
    /* Its record may have arrived already; it is read later. */
    server_watch(g, p->fd, p, 0, EPOLL_CTL_MOD);
}

static void take_message(struct server *g, struct peer *p)
{
    switch (p->frame.type) {
    case WIRE_CREDENTIAL: take_credential(g, p); return; /* its body is still needed */
    case WIRE_HELLO: take_hello(g, p, p->body, p->frame.length); break;
    case WIRE_NO_CREDENTIAL: take_no_credential(g, p); break;
    default: take_record(g, p); break;
    }
    peer_forget_body(p);
}

/* The longest body allowed for the type of this frame in this state; -1: the type is not
 * allowed. */
static int64_t body_limit(const struct server *g, const struct peer *p)
{
    if (p->state == PEER_NEW &&
        p->frame.type == (g->config.encrypted ? WIRE_CREDENTIAL : WIRE_HELLO))
        return WIRE_HELLO_MAX - (int64_t)sizeof(p->frame) - WIRE_TAG_SIZE;
    if (p->state == PEER_NEW && p->frame.type == WIRE_NO_CREDENTIAL && g->config.encrypted)
        return 0;
    if (p->state == PEER_AUTHENTICATED && p->frame.type == WIRE_RECORD && g->phase == GATHERING)
        /* NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result): a constant. */
        return WIRE_RECORD_MAX;
    return -1;
}

void server_receive(struct server *g, struct peer *p)
{
    int rc = 0;
    while (p->state != PEER_CREDENTIAL && p->state != PEER_CLOSED && (rc = peer_receive(p)) > 0) {
        if (rc == PEER_FRAME)
            rc = p->frame.magic == WIRE_MAGIC && body_limit(g, p) >= (int64_t)p->frame.length
                     ? peer_expect_body(p)
                     : -EPROTO;
        else if (rc == PEER_MESSAGE && !tag_is_right(&p->key, WIRE_FROM_NODE, &p->frame, p->body))
            rc = -EBADMSG;
        if (rc < 0)
            break;
        if (rc == PEER_MESSAGE)
            take_message(g, p);
    }
    if (p->state != PEER_CLOSED && rc < 0)
        server_peer_failed(g, p, rc);
}
