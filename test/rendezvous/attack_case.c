/* SPDX-License-Identifier: BSD-3-Clause */
#include "attack_case.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/rendezvous/credential.h"
#include "util/subprocess.h"

static unsigned tests, failures;
static const char *munged;
static bool encrypted;

void case_auth(bool is_encrypted, const char *socket)
{
    encrypted = is_encrypted;
    munged = socket;
}

void ok(bool good, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("%sok %u - auth=%s: ", good ? "" : "not ", ++tests, encrypted ? "munge" : "key");
    vprintf(fmt, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
    failures += !good;
}

int case_results(void)
{
    printf("1..%u\n", tests);
    return failures > 0;
}

/* --- the step --- */

void case_begin(struct attack_case *s, const char *name)
{
    case_begin_with(s, name, NULL);
}

void case_begin_with(struct attack_case *s, const char *name, void (*change)(struct harness *))
{
    *s = (struct attack_case){ .name = name,
                               .harness = { .encrypted = encrypted,
                                            .socket = munged,
                                            .timeout_ms = 3000, }, };
    s->fds = harness_fds();
    s->children = harness_children();
    if (change)
        change(&s->harness);
    harness_open(&s->harness);
    struct client_call call = harness_call(&s->harness, 1, NODES);
    struct wire_hello hello = harness_hello(&call);
    s->step = harness_key(s->harness.text);
    s->session = harness_session(&s->step, &hello);
}

void case_start_others(struct attack_case *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (i != 1)
            node_thread_start(&s->nodes[i], &s->harness, i, NODES);
}

void case_join_others(struct attack_case *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (i != 1)
            node_thread_join(&s->nodes[i]);
}

static bool are_answered(const struct attack_case *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (s->nodes[i].rc) {
            printf("# node %u: rc %d %s\n", i, s->nodes[i].rc, s->nodes[i].err.text);
            return false;
        }
    return true;
}

void case_nothing_leaks(struct attack_case *s)
{
    const struct srun_result *e = &s->result;
    ok(e->fds_before == e->fds_after && !e->children_after && e->threads_after == 1 &&
           harness_fds() == s->fds && harness_children() == s->children,
       "%s: nothing leaks (srun: fds %u/%u, %u threads, %u children; nodes: fds %u/%u)", s->name,
       e->fds_before, e->fds_after, e->threads_after, e->children_after, s->fds, harness_fds());
}

void case_run(struct attack_case *s)
{
    node_thread_start(&s->nodes[1], &s->harness, 1, NODES);
    case_start_others(s);
    case_join_others(s);
    node_thread_join(&s->nodes[1]);
}

void case_ends_well(struct attack_case *s)
{
    ok(harness_finish(&s->harness, &s->result) && are_answered(s), "%s: all nodes are answered",
       s->name);
    ok(s->result.counts.records == NODES && s->result.warnings == 0 && s->result.reports == 1,
       "%s: one report, no warning (%u, %u %s)", s->name, s->result.reports, s->result.warnings,
       s->result.warning);
    case_nothing_leaks(s);
}

void case_is_well(struct attack_case *s)
{
    case_run(s);
    case_ends_well(s);
}

/* --- messages --- */

struct encryption {
    uid_t uid;
    const struct message *hello;
};

static void encrypt(int fd, void *arg)
{
    const struct encryption *s = arg;
    struct nuioa_error err;
    char *text;
    if (!credential_make_as(munged, s->uid, s->uid, s->hello->bytes, s->hello->length, &text, &err))
        nuioa_subprocess_write(fd, text, strlen(text) + 1);
    else
        fprintf(stderr, "# %s\n", err.text);
}

static struct message make_hello(struct attack_case *s, bool encrypted, uid_t uid,
                                 void (*change)(struct wire_hello *), uint32_t node,
                                 const uint32_t *ranks)
{
    struct client_call call = harness_call(&s->harness, node, NODES);
    struct message plain = { .type = WIRE_HELLO }, result = { .type = WIRE_CREDENTIAL };
    struct wire_hello right = harness_hello(&call);
    right.rank_count = ranks ? right.task_count : 0;
    struct wire_hello *hello = plain.bytes = hello_make(&right, ranks, &plain.length);
    if (change)
        change(hello);
    if (!encrypted)
        return plain;
    struct encryption encryption = { uid, &plain };
    nuioa_subprocess_run(encrypt, &encryption, 5000, 64 << 10, &result.bytes, &result.length);
    free(hello);
    return result;
}

struct message case_hello(struct attack_case *s, uid_t uid, void (*change)(struct wire_hello *))
{
    return make_hello(s, encrypted, uid, change, 1, NULL);
}

struct message case_asking_hello(struct attack_case *s, uint32_t node, const uint32_t *ranks)
{
    return make_hello(s, encrypted, USER_UID, NULL, node, ranks);
}

struct message case_other_hello(struct attack_case *s)
{
    return make_hello(s, !encrypted, USER_UID, NULL, 1, NULL);
}

void case_send(const struct attack_case *s, int fd, const struct message *m)
{
    struct wire_frame frame = { WIRE_MAGIC, m->type, (uint32_t)m->length };
    char *body = malloc(m->length + WIRE_TAG_SIZE);
    if (m->length)
        memcpy(body, m->bytes, m->length);
    harness_tag(m->key ? m->key : &s->step, m->from ? m->from : WIRE_FROM_NODE, &frame, body,
                (uint8_t *)body + m->length);
    if (m->spoil)
        m->spoil(&frame, body);
    if (send(fd, &frame, sizeof(frame), MSG_NOSIGNAL) < 0 ||
        send(fd, body, m->length + WIRE_TAG_SIZE, MSG_NOSIGNAL) < 0)
        perror("# send");
    free(body);
}

int case_accepted_node(struct attack_case *s, void (*change)(struct wire_hello *))
{
    struct message m = case_hello(s, USER_UID, change);
    char welcome[sizeof(struct wire_frame) + WIRE_TAG_SIZE];
    int fd = harness_connect(&s->harness);
    case_send(s, fd, &m);
    if (recv(fd, welcome, sizeof(welcome), MSG_WAITALL) != sizeof(welcome))
        ok(false, "%s: the node is known", s->name);
    free(m.bytes);
    return fd;
}

void case_send_record(const struct attack_case *s, int fd, uint32_t node)
{
    struct message m = { .type = WIRE_RECORD, .key = &s->session };
    m.bytes = harness_record(node, &m.length);
    case_send(s, fd, &m);
    free(m.bytes);
}

bool case_is_disconnected(int fd, int ms)
{
    char bytes[256];
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    int64_t end = harness_ms() + ms;
    while (harness_ms() < end)
        if (poll(&wait, 1, 20) > 0 && recv(fd, bytes, sizeof(bytes), 0) <= 0)
            return true;
    return false;
}

void case_is_refused(struct attack_case *s, struct message m, const char *what)
{
    int fd = harness_connect(&s->harness);
    case_send(s, fd, &m);
    ok(case_is_disconnected(fd, 2000), "%s: %s is refused", s->name, what);
    hang_up(fd);
    free(m.bytes);
}

void hang_up(int fd)
{
    if (fd >= 0)
        close(fd);
}
