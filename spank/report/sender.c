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
#include "util/subprocess.h"

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
    int rc = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;
    if (rc)
        munmap(memory, sizeof(*s->memory));
    else
        *s = (struct sender){ memory, ends[0], ends[1] };
    return rc;
}

void sender_forked(struct sender *s)
{
    if (s->child_control >= 0)
        close(s->child_control);
    s->child_control = -1;
}

/* Sends or takes a byte with a descriptor beside it. Returns 1 if one has gone or come. */
static ssize_t pass(int control, int *fd, bool sends)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } beside = { .head = { CMSG_LEN(sizeof(*fd)), SOL_SOCKET, SCM_RIGHTS } };
    struct iovec bytes = { &(char){ 0 }, 1 };
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &beside, .msg_controllen = sizeof(beside)
    };
    memcpy(CMSG_DATA(&beside.head), fd, sizeof(*fd));
    if (sends)
        return sendmsg(control, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    ssize_t got = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    if (got == 1 && CMSG_FIRSTHDR(&message))
        memcpy(fd, CMSG_DATA(&beside.head), sizeof(*fd));
    return got;
}

int sender_hand_over(struct sender *s, size_t length, const char *text, int output)
{
    if (s->memory->record_length)
        return -EALREADY;
    nuioa_copy(s->memory->text, sizeof(s->memory->text), text);
    s->memory->record_length = (uint32_t)length;
    return pass(s->control, &output, true) == 1 ? 0 : -errno;
}

void sender_tell_end(const struct sender *s)
{
    shutdown(s->control, SHUT_WR);
}

bool sender_decide(const struct sender *s)
{
    return s->memory && !__atomic_exchange_n(&s->memory->decided, 1, __ATOMIC_ACQ_REL);
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

/* A thread seals the record, because libmunge waits as long as it likes; a process would cost more.
 * If it is late it stays behind, until the child ends. */
struct sealing {
    const struct sender_call *call;
    int done; /* an eventfd */
    int rc;   /* the result, with the credential or a text, when `done` is readable */
    char *sealed;
    struct nuioa_error err;
};

_Static_assert(WIRE_RECORD_MAX - WIRE_TEXT_MAX <= WIRE_SEALED_MAX / 2,
               "a record without its text is short enough as a credential too");

/* A record whose text makes it too long goes without it. */
static void *seal(void *arg)
{
    struct sealing *s = arg;
    struct sender_memory *m = s->call->sender->memory;
    for (;;) {
        s->rc = credential_make(s->call->socket, m->record, m->record_length, &s->sealed, &s->err);
        if (s->rc < 0 || strlen(s->sealed) < WIRE_SEALED_MAX || !m->head.text_length)
            break;
        free(s->sealed);
        m->record_length -= m->head.text_length;
        m->head.text_length = 0;
    }
    eventfd_write(s->done, 1);
    return NULL;
}

/* How long the child waits, for MUNGE and srun together. */
struct patience {
    int64_t until_ms;
    int control; /* -1: the node's last task has ended */
};

/* Waits for an event of `fd`. Returns false if there is none in time. */
static bool await(struct patience *p, int fd, short events)
{
    for (int64_t now_ms; (now_ms = nuioa_clock_ms()) < p->until_ms;) {
        struct pollfd fds[] = { { .fd = fd, .events = events },
                                { .fd = p->control, .events = POLLIN } };
        poll(fds, 2, (int)(p->until_ms - now_ms));
        if (fds[0].revents)
            return true;
        if (fds[1].revents) {
            int64_t ended_ms = nuioa_clock_ms() + SENDER_ENDED_MS;
            p->until_ms = ended_ms < p->until_ms ? ended_ms : p->until_ms;
            p->control = -1;
        }
    }
    return false;
}

/* Sends the credential, and takes the answer. */
static int ask(struct patience *p, int fd, const char *sealed)
{
    char byte = 0;
    for (size_t left = strlen(sealed) + 1; left;) {
        if (!await(p, fd, POLLOUT))
            return -ETIMEDOUT;
        ssize_t sent = send(fd, sealed, left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN)
            return -errno;
        sealed += sent > 0 ? sent : 0;
        left -= sent > 0 ? (size_t)sent : 0;
    }
    if (!await(p, fd, POLLIN))
        return -ETIMEDOUT;
    ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);
    return got < 0 ? -errno : got == 1 && byte == WIRE_TAKEN ? 0 : -ECONNRESET;
}

/* Gives srun the record. Returns 0, or negative with *err. The connection ends when nobody waits
 * for it, so that srun does not take the record then. */
static int send_record(const struct sender_call *call, struct nuioa_error *err)
{
    static struct sealing s;
    pthread_t thread;
    pthread_attr_t small;
    int64_t wait_ms =
        SENDER_MS + (int64_t)SENDER_NODE_MS * call->sender->memory->head.seal.node_count;
    struct patience p = { nuioa_clock_ms() + wait_ms, call->sender->child_control };
    s = (struct sealing){ .call = call, .done = eventfd(0, EFD_CLOEXEC) };
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    if (s.done < 0 || pthread_create(&thread, &small, seal, &s))
        return nuioa_fail(err, -ENOMEM, "the record of this node cannot be sealed");
    if (!await(&p, s.done, POLLIN))
        return nuioa_fail(err, -ETIMEDOUT, "MUNGE: no answer from munged; start it");
    close(s.done);
    *err = s.err;
    if (s.rc < 0)
        return s.rc;
    int fd = listener_connect(call->address, call->port);
    int rc = fd < 0 ? fd : ask(&p, fd, s.sealed);
    if (fd >= 0)
        close(fd);
    free(s.sealed);
    if (rc == -ETIMEDOUT)
        return nuioa_fail(err, rc, "srun took no record (no answer in time)");
    return rc ? nuioa_fail(err, rc, "srun took no record (%s)", strerror(-rc)) : 0;
}

/* Prints this node's own report. The step's first node says why. */
static void print_own(const struct sender_memory *m, int output, const char *why)
{
    const struct wire_seal *seal = &m->head.seal;
    char line[400];
    if (!seal->node && seal->node_count > 1) {
        snprintf(line, sizeof(line), "nuioa: report: %s: %s prints its own\n", why,
                 seal->node_count > SENDER_NODES_MAX ? "the first node alone" : "each node");
        nuioa_write_text(output, line);
    }
    nuioa_write_text(output, m->text);
}

void sender_work(int fd, void *arg)
{
    const struct sender_call *call = arg;
    struct nuioa_error err;
    int output = -1;
    signal(SIGPIPE, SIG_IGN); /* the reader of `output` may have gone */
    pass(call->sender->child_control, &output, false);
    if (output >= 0) {
        bool taken = !send_record(call, &err);
        if (sender_decide(call->sender) && !taken)
            print_own(call->sender->memory, output, err.text);
        close(output);
    }
    nuioa_subprocess_write(fd, "", 1);
}
