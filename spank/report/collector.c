/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/report/credential.h"
#include "spank/report/listener.h"
#include "spank/report/summary.h"
#include "util/clock.h"

/* When the step is over: how long srun waits for the child; how long the child waits for records
 * that are on their way; when it no longer waits for munged. */
#define END_MS 1000
#define LAST_MS 300
#define LATE_MS 800
/* With no descriptor left, the child sleeps for so long. */
#define PAUSE_MS 50

struct stranger {
    int fd;
    int64_t since_ms;
    size_t length; /* of what has come */
    char bytes[WIRE_SEALED_MAX];
};

struct collection {
    struct collector_config config; /* its listener is -1 when it is closed */
    int control; /* a pipe to srun, whose end is an error when the step is over */
    bool over;   /* the step is */
    uint32_t stranger_count, refused;
    struct stranger strangers[COLLECTOR_STRANGERS_MAX];
    uint32_t record_count;
    bool seen[WIRE_NODES_MAX];
    struct summary *summary;
    struct nuioa_error trouble; /* why records are missing; "": not known */
    /* Held while a record is merged, and from the beginning of the report on. */
    pthread_mutex_t lock;
    struct nuioa_error refusal; /* why MUNGE has refused a credential; "": it has not */
};

static void close_port(struct collection *c)
{
    if (c->config.listener < 0)
        return;
    shutdown(c->config.listener, SHUT_RDWR);
    close(c->config.listener);
    c->config.listener = -1;
}

/* The last stranger takes the place of the one that goes: a loop that drops begins at the end. */
static void drop(struct collection *c, struct stranger *s)
{
    const struct stranger *last = &c->strangers[--c->stranger_count];
    close(s->fd);
    memmove(s, last, offsetof(struct stranger, bytes) + last->length);
}

static void refuse(struct collection *c, struct stranger *s)
{
    drop(c, s);
    if (++c->refused < COLLECTOR_REFUSED_MAX)
        return;
    nuioa_fail(&c->trouble, -ECONNREFUSED, "srun's port had %d unknown connections, and is closed",
               COLLECTOR_REFUSED_MAX);
    close_port(c);
}

/* --- records --- */

/* Returns true if the seal is for this step, and of a node that has sent nothing so far. What srun
 * does not know of the step, the first such seal says. */
static bool is_for_us(struct collection *c, const struct wire_seal *seal)
{
    if (strncmp(seal->purpose, WIRE_PURPOSE, sizeof(seal->purpose)) != 0 ||
        seal->version != WIRE_VERSION || seal->step_id != c->config.step_id ||
        seal->node_count > WIRE_NODES_MAX || seal->node >= seal->node_count ||
        (c->config.job_id != UINT32_MAX && seal->job_id != c->config.job_id) ||
        (c->config.node_count && seal->node_count != c->config.node_count) || c->seen[seal->node])
        return false;
    c->config.job_id = seal->job_id;
    c->config.node_count = seal->node_count;
    return true;
}

/* Tells a node that srun has its record. Returns false if it has gone, and prints its own. */
static bool answer(int fd)
{
    char taken = WIRE_TAKEN, byte;
    ssize_t got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && errno == EAGAIN && send(fd, &taken, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* Merges the content of a credential. Returns false if it is refused. */
static bool take_record(struct collection *c, int fd, const void *bytes, size_t length)
{
    struct record record;
    if (record_read(bytes, length, &record) < 0 || !is_for_us(c, &record.head->seal))
        return false;
    if (answer(fd)) {
        c->seen[record.head->seal.node] = true;
        c->record_count++;
        summary_add(c->summary, &record);
    }
    return true;
}

/* Opens what a stranger has sent, which is whole. While munged does not answer, no other node is:
 * if it fails, all print their own reports. */
static void open_record(struct collection *c, struct stranger *s)
{
    void *bytes;
    size_t length;
    uid_t uid;
    struct nuioa_error err;
    int rc = credential_decode(c->config.socket, s->bytes, &uid, &bytes, &length, &err);
    pthread_mutex_lock(&c->lock);
    if (rc == -EACCES) {
        c->refusal = err;
    } else if (rc && rc != -EBADMSG) {
        c->trouble = err;
        close_port(c);
    }
    bool taken = !rc && uid == geteuid() && take_record(c, s->fd, bytes, length);
    free(bytes);
    if (taken || c->config.listener < 0)
        drop(c, s);
    else
        refuse(c, s);
    pthread_mutex_unlock(&c->lock);
}

/* --- connections --- */

/* Returns true if the stranger has left its place. */
static bool receive(struct collection *c, struct stranger *s)
{
    ssize_t got = recv(s->fd, s->bytes + s->length, WIRE_SEALED_MAX - s->length, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return false;
    bool whole = got > 0 && memchr(s->bytes + s->length, '\0', (size_t)got);
    s->length += got > 0 ? (size_t)got : 0;
    if (whole)
        open_record(c, s);
    else if (got <= 0 || s->length == WIRE_SEALED_MAX)
        refuse(c, s);
    else
        return false;
    return true;
}

/* Accepts a connection, for which there is a place. */
static void accept_one(struct collection *c)
{
    struct stranger *s = &c->strangers[c->stranger_count];
    int fd = accept4(c->config.listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno != EAGAIN && errno != ECONNABORTED)
            poll(NULL, 0, PAUSE_MS); /* out of descriptors */
        return;
    }
    c->stranger_count++;
    s->fd = fd;
    s->since_ms = nuioa_clock_ms();
    s->length = 0;
    receive(c, s);
}

/* The record of a late one may have come while munged was asked. */
static void refuse_late(struct collection *c)
{
    int64_t before = nuioa_clock_ms() - COLLECTOR_STRANGER_MS;
    for (uint32_t i = c->stranger_count; i--;)
        if (c->strangers[i].since_ms <= before && !receive(c, &c->strangers[i]))
            refuse(c, &c->strangers[i]);
}

/* Returns true if something came within `wait_ms`. */
static bool serve(struct collection *c, int wait_ms)
{
    uint32_t count = c->stranger_count; /* poll() takes no more places than there may be files */
    struct pollfd fds[2 + COLLECTOR_STRANGERS_MAX] = {
        { .fd = c->over ? -1 : c->control },
        { .fd = count < COLLECTOR_STRANGERS_MAX ? c->config.listener : -1, .events = POLLIN },
    };
    for (uint32_t i = 0; i < count; i++)
        fds[2 + i] = (struct pollfd){ .fd = c->strangers[i].fd, .events = POLLIN };
    int ready = poll(fds, 2 + count, wait_ms);
    c->over = c->over || fds[0].revents;
    for (uint32_t i = count; i--;)
        if (fds[2 + i].revents)
            receive(c, &c->strangers[i]);
    if (fds[1].revents && c->config.listener >= 0)
        accept_one(c);
    refuse_late(c);
    return ready > 0;
}

static bool is_complete(const struct collection *c)
{
    return c->config.node_count && c->record_count == c->config.node_count;
}

static void collect(struct collection *c)
{
    while (!c->over && c->config.listener >= 0 && !is_complete(c))
        serve(c, c->stranger_count ? COLLECTOR_STRANGER_MS : -1);
    int64_t until_ms = nuioa_clock_ms() + LAST_MS;
    while (c->config.listener >= 0 && !is_complete(c) && nuioa_clock_ms() < until_ms &&
           (serve(c, c->stranger_count ? LAST_MS : 0) || c->stranger_count))
        ;
    close_port(c);
    while (c->stranger_count) /* they need not wait */
        drop(c, c->strangers);
}

/* --- the report --- */

/* Nodes send nothing, too, where Slurm could not start the step there, for instance for a wrong
 * binding: it prints why, but tells no plugin of srun's. */
static void explain_missing(struct collection *c)
{
    char names[64], text[500];
    summary_absent(c->summary, c->config.nodes, c->config.node_count, names, sizeof(names));
    const char *who = *names ? names : c->record_count ? "some nodes" : "any node of the step";
    if (*c->trouble.text)
        snprintf(text, sizeof(text), "report: %s: %s", c->trouble.text,
                 c->record_count
                     ? "the missing nodes print their own"
                     : "each node prints its own report (see nuioa-spank(8), DIAGNOSTICS)");
    else if (*c->refusal.text)
        snprintf(text, sizeof(text), "report: no record from %s; a credential was refused: %s", who,
                 c->refusal.text);
    else
        snprintf(text, sizeof(text),
                 "report: no record from %s; fix what Slurm or a node reports, or install the same "
                 "nuioa there, with its line in plugstack.conf. If it is installed, see slurmd.log "
                 "on that node",
                 who);
    c->config.say(text);
}

/* Prints once: who comes later waits for the lock for ever. */
static void print(struct collection *c)
{
    pthread_mutex_lock(&c->lock);
    if (!is_complete(c))
        explain_missing(c);
    if (!c->record_count)
        return;
    summary_warnings(c->summary, c->config.say);
    char *text = summary_text(c->summary, c->config.explain);
    c->config.print(text ? text : "nuioa: no report: out of memory\n");
    free(text);
}

/* --- the child --- */

static void await_end(const struct collection *c)
{
    struct pollfd end = { .fd = c->control };
    poll(&end, 1, -1);
}

/* Prints what has been merged, if the other thread still waits for munged when the step is over:
 * nodes were told that srun has it. */
static void *print_late(void *arg)
{
    struct collection *c = arg;
    await_end(c);
    poll(NULL, 0, LATE_MS);
    pthread_mutex_lock(&c->lock);
    nuioa_fail(&c->trouble, -ETIMEDOUT, "munged does not answer on srun's host");
    pthread_mutex_unlock(&c->lock);
    print(c);
    _exit(0);
}

/* Other processes wait for the end of srun's standard files. */
static void run(int control, void *arg)
{
    pthread_t late;
    signal(SIGPIPE, SIG_IGN);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    if (null > STDERR_FILENO)
        close(null);
    struct collection *c = calloc(1, sizeof(*c)); /* most of both is never written */
    if (!c || !(c->summary = summary_new()))
        return;
    c->config = *(struct collector_config *)arg;
    c->control = control;
    pthread_mutex_init(&c->lock, NULL);
    pthread_create(&late, NULL, print_late, c);
    collect(c);
    print(c);
    await_end(c); /* else it would stay in srun's list of processes, having ended */
}

/* --- srun --- */

int collector_start(struct nuioa_subprocess *collector, struct collector_config *config)
{
    return nuioa_subprocess_start(collector, run, config, config->listener, 0);
}

int collector_end(struct nuioa_subprocess *collector)
{
    return nuioa_subprocess_finish(collector, END_MS) ? 0 : -ETIMEDOUT;
}
