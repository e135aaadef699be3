/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/sender.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/report/credential.h"
#include "spank/report/listener.h"
#include "util/clock.h"
#include "util/descriptors.h"

/* The default is the limit of slurmd's stack, which may be more than the child may map. */
#define STACK_BYTES (1u << 20)

/* --- slurmstepd --- */

int sender_open(struct sender *s)
{
    int ends[2];
    *s = (struct sender)SENDER_NONE;
    void *memory = mmap(NULL, sizeof(*s->memory), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return -errno;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        int rc = -errno;
        munmap(memory, sizeof(*s->memory));
        return rc;
    }
    *s = (struct sender){ memory, ends[0], ends[1] };
    return 0;
}

void sender_forked(struct sender *s)
{
    if (s->child_control >= 0)
        close(s->child_control);
    s->child_control = -1;
}

/* Sends a byte with a descriptor. */
static int send_descriptor(int to, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } control = { { 0 } };
    char byte = 0;
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 ? 0 : -errno;
}

int sender_hand_over(struct sender *s, const struct wire_seal *seal, const void *record,
                     size_t length, const char *text, int output)
{
    if (!s->memory || s->memory->record_length)
        return -ENOENT;
    nuioa_copy(s->memory->text, sizeof(s->memory->text), text);
    s->memory->text_length = (uint32_t)strlen(s->memory->text) + 1;
    s->memory->seal = *seal;
    memcpy(s->memory->record, record, length);
    s->memory->record_length = (uint32_t)length;
    return send_descriptor(s->control, output);
}

void sender_tell_end(const struct sender *s)
{
    if (s->control >= 0)
        shutdown(s->control, SHUT_WR);
}

/* Returns true if it is this call that decides. */
static bool decide(struct sender_memory *m, enum sender_fate fate)
{
    uint32_t open = SENDER_OPEN;
    return __atomic_compare_exchange_n(&m->fate, &open, fate, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

bool sender_is_late(const struct sender *s)
{
    return s->memory && decide(s->memory, SENDER_LATE);
}

void sender_close(struct sender *s)
{
    if (!s->memory)
        return;
    munmap(s->memory, sizeof(*s->memory));
    close(s->control);
    sender_forked(s);
    *s = (struct sender)SENDER_NONE;
}

/* --- the child --- */

/* Waits for the record. Returns the descriptor that came with it, or -1: there is none. */
static int await_record(int control)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr aligned;
    } ancillary;
    char byte;
    int fd = -1;
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = ancillary.bytes,
                              .msg_controllen = sizeof(ancillary.bytes) };
    ssize_t got;
    do
        got = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    struct cmsghdr *head = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(head), sizeof(fd));
    return fd;
}

/* How long the child still waits. */
struct patience {
    int64_t until_ms;
    int control; /* -1: the node's last task has ended */
};

/* Waits for `events` of `fd`. Returns 0 or -ETIMEDOUT. */
static int await(struct patience *p, int fd, short events)
{
    for (;;) {
        struct pollfd fds[] = { { .fd = fd, .events = events },
                                { .fd = p->control, .events = POLLIN } };
        int64_t now_ms = nuioa_clock_ms();
        if (now_ms >= p->until_ms)
            return -ETIMEDOUT;
        int ready = poll(fds, 2, (int)(p->until_ms - now_ms));
        if (ready > 0 && fds[0].revents)
            return 0;
        if (ready > 0 && fds[1].revents) {
            p->control = -1;
            if (now_ms + SENDER_ENDED_MS < p->until_ms)
                p->until_ms = now_ms + SENDER_ENDED_MS;
        }
    }
}

/* A thread that seals, because libmunge waits for munged as long as it likes; a process would cost
 * more. If it is late it stays behind with this struct, until the child ends. */
struct sealing {
    const struct sender_call *call;
    int done; /* an eventfd */
    int rc;   /* the result, and what follows, when `done` is readable */
    char *sealed;
    struct nuioa_error err;
};

_Static_assert(sizeof(struct wire_seal) + WIRE_RECORD_MAX - WIRE_TEXT_MAX <= WIRE_SEALED_MAX / 2,
               "a record without its text is short enough as a credential too");

/* A record whose text makes it too long goes without it. */
static void *seal(void *arg)
{
    struct sealing *s = arg;
    struct sender_memory *m = s->call->sender->memory;
    struct wire_record *record = (struct wire_record *)(void *)m->record;
    size_t head = offsetof(struct sender_memory, record) - offsetof(struct sender_memory, seal);
    while (!(s->rc = credential_make(s->call->socket, geteuid(), &m->seal, head + m->record_length,
                                     &s->sealed, &s->err)) &&
           strlen(s->sealed) >= WIRE_SEALED_MAX && record->text_length) {
        free(s->sealed);
        s->sealed = NULL;
        m->record_length -= record->text_length;
        record->text_length = 0;
    }
    eventfd_write(s->done, 1);
    return NULL;
}

/* Starts the thread. Returns NULL if that fails. */
static struct sealing *start_sealing(const struct sender_call *call)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    struct sealing *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->call = call;
    s->done = eventfd(0, EFD_CLOEXEC);
    if (s->done >= 0 && !pthread_create(&thread, &small, seal, s)) {
        pthread_detach(thread);
        return s;
    }
    if (s->done >= 0)
        close(s->done);
    free(s);
    return NULL;
}

/* Has the record sealed. Returns 0 and *sealed, which the caller frees; or negative with *err. */
static int seal_in_time(struct patience *p, const struct sender_call *call, char **sealed,
                        struct nuioa_error *err)
{
    struct sealing *s = start_sealing(call);
    if (!s)
        return nuioa_fail(err, -ENOMEM, "the record of this node cannot be sealed");
    int rc = await(p, s->done, POLLIN);
    if (rc < 0)
        return nuioa_fail(err, rc, "MUNGE: no answer from munged; start it");
    rc = s->rc;
    *sealed = s->sealed;
    *err = s->err;
    close(s->done);
    free(s);
    return rc;
}

static int send_all(struct patience *p, int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        int rc = sent < 0 && errno == EAGAIN ? await(p, fd, POLLOUT) : 0;
        if (rc < 0 || (sent < 0 && errno != EAGAIN && errno != EINTR))
            return rc < 0 ? rc : -errno;
        bytes += sent > 0 ? sent : 0;
        length -= sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

/* Sends the credential on the connection `fd`, and waits for the answer. */
static int deliver(struct patience *p, int fd, const char *sealed)
{
    int failed = 0;
    socklen_t size = sizeof(failed);
    char byte = 0;
    int rc = await(p, fd, POLLOUT);
    if (!rc && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) && failed)
        rc = -failed;
    if (!rc)
        rc = send_all(p, fd, sealed, strlen(sealed) + 1);
    if (!rc)
        rc = await(p, fd, POLLIN);
    if (!rc && (recv(fd, &byte, 1, MSG_DONTWAIT) != 1 || byte != WIRE_TAKEN))
        rc = -ECONNRESET;
    return rc;
}

/* Gives srun the record. Returns 0, or negative with *err. */
static int send_record(const struct sender_call *call, struct nuioa_error *err)
{
    char *sealed = NULL;
    struct patience p = {
        .until_ms = nuioa_clock_ms() + SENDER_MS +
                    (int64_t)SENDER_NODE_MS * call->sender->memory->seal.node_count,
        .control = call->sender->child_control,
    };
    int rc = seal_in_time(&p, call, &sealed, err);
    if (rc < 0)
        return rc;
    int fd = listener_connect(call->address, call->port);
    rc = fd < 0 ? fd : deliver(&p, fd, sealed);
    if (rc < 0)
        nuioa_fail(err, rc, "srun took no record (%s)",
                   rc == -ETIMEDOUT ? "no answer in time" : strerror(-rc));
    if (fd >= 0)
        close(fd);
    free(sealed);
    return rc;
}

/* Prints this node's own report. The step's first node says why. */
static void print_own(const struct sender_call *call, int output, const char *why)
{
    const struct sender_memory *m = call->sender->memory;
    char line[400];
    if (!m->seal.node && m->seal.node_count > 1) {
        snprintf(line, sizeof(line), "nuioa: report: %s: %s prints its own\n", why,
                 m->seal.node_count > SENDER_NODES_MAX ? "the first node alone" : "each node");
        nuioa_write_text(output, line);
    }
    nuioa_write_text(output, m->text);
}

void sender_work(int fd, void *arg)
{
    const struct sender_call *call = arg;
    struct nuioa_error err;
    signal(SIGPIPE, SIG_IGN); /* the reader of `output` may have gone */
    int output = await_record(call->sender->child_control);
    if (output >= 0) {
        bool taken = !send_record(call, &err);
        if (decide(call->sender->memory, taken ? SENDER_TAKEN : SENDER_PRINTS) && !taken)
            print_own(call, output, err.text);
        close(output);
    }
    ssize_t done = write(fd, "", 1);
    (void)done;
}
