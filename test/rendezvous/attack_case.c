#include "attack_case.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/rendezvous/seal.h"
#include "util/subprocess.h"

static unsigned tests, failures;
static const char *munged;
static bool sealed, unreported;

void scene_auth(bool is_sealed, const char *socket)
{
    sealed = is_sealed;
    munged = socket;
}

void scene_report(bool wanted)
{
    unreported = !wanted;
}

void ok(bool good, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("%sok %u - auth=%s: ", good ? "" : "not ", ++tests, sealed ? "munge" : "key");
    vprintf(fmt, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
    failures += !good;
}

int scene_results(void)
{
    printf("1..%u\n", tests);
    return failures > 0;
}

/* --- the step ------------------------------------------------------------------------------------------ */

void scene_begin(struct scene *s, const char *name)
{
    scene_begin_with(s, name, NULL);
}

void scene_begin_with(struct scene *s, const char *name, void (*change)(struct stage *))
{
    *s = (struct scene){ .name = name,
                         .stage = { .sealed = sealed, .socket = munged, .timeout_ms = 3000,
                                    .unreported = unreported } };
    s->fds = stage_fds();
    s->children = stage_children();
    if (change)
        change(&s->stage);
    stage_open(&s->stage);
    struct gather_call call = stage_call(&s->stage, 1, NODES);
    struct wire_hello hello = stage_hello(&call);
    s->step = stage_key(s->stage.text);
    s->session = stage_session(&s->step, &hello);
}

void scene_start_others(struct scene *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (i != 1)
            actor_start(&s->actors[i], &s->stage, i, NODES);
}

void scene_join_others(struct scene *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (i != 1)
            actor_join(&s->actors[i]);
}

static bool have_table(const struct scene *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < NODES; k++)
            if (s->actors[i].rc != 1 || s->actors[i].leaders[k] != 4 * k) {
                printf("# node %u: rc %d %s\n", i, s->actors[i].rc, s->actors[i].err.text);
                return false;
            }
    return true;
}

void scene_nothing_leaks(struct scene *s)
{
    const struct ending *e = &s->ending;
    ok(e->fds_before == e->fds_after && !e->children_after && e->threads_after == 1 &&
           stage_fds() == s->fds && stage_children() == s->children,
       "%s: nothing leaks (srun: fds %u/%u, %u threads, %u children; nodes: fds %u/%u)", s->name,
       e->fds_before, e->fds_after, e->threads_after, e->children_after, s->fds, stage_fds());
    for (uint32_t i = 0; i < NODES; i++)
        free(s->actors[i].leaders);
}

void scene_run(struct scene *s)
{
    actor_start(&s->actors[1], &s->stage, 1, NODES);
    scene_start_others(s);
    scene_join_others(s);
    actor_join(&s->actors[1]);
}

void scene_ends_well(struct scene *s)
{
    ok(stage_finish(&s->stage, &s->ending) && have_table(s), "%s: all nodes get the table", s->name);
    ok(s->ending.warnings == 0 && s->ending.reports == 1, "%s: one report, no warning (%u, %u %s)", s->name,
       s->ending.reports, s->ending.warnings, s->ending.warning);
    scene_nothing_leaks(s);
}

void scene_is_well(struct scene *s)
{
    scene_run(s);
    scene_ends_well(s);
}

/* --- what is said -------------------------------------------------------------------------------------- */

struct sealing {
    uid_t uid;
    const struct message *hello;
};

static void seal(int fd, void *arg)
{
    const struct sealing *s = arg;
    struct nuioa_error err;
    char *text;
    if (!seal_as(munged, s->uid, s->uid, s->hello->bytes, s->hello->length, &text, &err))
        nuioa_child_write(fd, text, strlen(text) + 1);
    else
        fprintf(stderr, "# %s\n", err.text);
}

static struct message make_hello(struct scene *s, bool seal_it, uid_t uid, void (*change)(struct wire_hello *))
{
    struct gather_call call = stage_call(&s->stage, 1, NODES);
    struct message plain = { .type = WIRE_HELLO }, result = { .type = WIRE_SEALED };
    struct wire_hello right = stage_hello(&call);
    struct wire_hello *hello = plain.bytes = hello_make(&right, NULL, &plain.length);
    if (change)
        change(hello);
    if (!seal_it)
        return plain;
    struct sealing sealing = { uid, &plain };
    nuioa_child_run(seal, &sealing, 5000, 64 << 10, &result.bytes, &result.length);
    free(hello);
    return result;
}

struct message scene_hello(struct scene *s, uid_t uid, void (*change)(struct wire_hello *))
{
    return make_hello(s, sealed, uid, change);
}

struct message scene_other_hello(struct scene *s)
{
    return make_hello(s, !sealed, USER_UID, NULL);
}

void scene_say(const struct scene *s, int fd, const struct message *m)
{
    struct wire_frame frame = { WIRE_MAGIC, m->type, (uint32_t)m->length };
    char *body = malloc(m->length + WIRE_TAG_SIZE);
    if (m->length)
        memcpy(body, m->bytes, m->length);
    stage_tag(m->key ? m->key : &s->step, m->from ? m->from : WIRE_FROM_NODE, &frame, body,
              (uint8_t *)body + m->length);
    if (m->spoil)
        m->spoil(&frame, body);
    if (send(fd, &frame, sizeof(frame), MSG_NOSIGNAL) < 0 ||
        send(fd, body, m->length + WIRE_TAG_SIZE, MSG_NOSIGNAL) < 0)
        perror("# send");
    free(body);
}

int scene_known_node(struct scene *s, void (*change)(struct wire_hello *))
{
    struct message m = scene_hello(s, USER_UID, change);
    char welcome[sizeof(struct wire_frame) + WIRE_TAG_SIZE];
    int fd = stage_connect(&s->stage);
    scene_say(s, fd, &m);
    if (recv(fd, welcome, sizeof(welcome), MSG_WAITALL) != sizeof(welcome))
        ok(false, "%s: the node is known", s->name);
    free(m.bytes);
    return fd;
}

void scene_tell_record(const struct scene *s, int fd, uint32_t node, uint32_t patience_ms)
{
    struct message m = { .type = WIRE_RECORD, .key = &s->session };
    struct wire_record *record = m.bytes = stage_record(node, &m.length);
    record->patience_ms = patience_ms;
    scene_say(s, fd, &m);
    free(record);
}

bool scene_is_sent_away(int fd, int ms)
{
    char bytes[256];
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    int64_t end = stage_ms() + ms;
    while (stage_ms() < end)
        if (poll(&wait, 1, 20) > 0 && recv(fd, bytes, sizeof(bytes), 0) <= 0)
            return true;
    return false;
}

void scene_is_refused(struct scene *s, struct message m, const char *what)
{
    int fd = stage_connect(&s->stage);
    scene_say(s, fd, &m);
    ok(scene_is_sent_away(fd, 2000), "%s: %s is refused", s->name, what);
    hang_up(fd);
    free(m.bytes);
}

void hang_up(int fd)
{
    if (fd >= 0)
        close(fd);
}
