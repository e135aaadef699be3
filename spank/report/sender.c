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
    if (s->control >= 0)
        shutdown(s->control, SHUT_WR);
}

/* Returns true for one call only, by the child, or by slurmstepd when the child is late. */
static bool decide(struct sender_memory *m)
{
    return !__atomic_exchange_n(&m->decided, 1, __ATOMIC_ACQ_REL);
}

bool sender_is_late(const struct sender *s)
{
    return s->memory && decide(s->memory);
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

/* A thread seals and sends, because libmunge and the kernel wait as long as they like; a process
 * would cost more. If it is late it stays behind, until the child ends. */
struct delivery {
    const struct sender_call *call;
    int connection; /* to srun, or one of the values below; read and written atomically */
    int done;       /* an eventfd */
    int rc;         /* the result, and its text, when `done` is readable */
    struct nuioa_error err;
};

enum { NOT_SEALED = -1, GIVEN_UP = -2 };

_Static_assert(WIRE_RECORD_MAX - WIRE_TEXT_MAX <= WIRE_SEALED_MAX / 2,
               "a record without its text is short enough as a credential too");

/* Seals the record; one whose text makes it too long goes without it. Returns the credential, or
 * NULL. */
static char *seal(struct delivery *d)
{
    struct sender_memory *m = d->call->sender->memory;
    char *sealed;
    for (;;) {
        d->rc = credential_make(d->call->socket, m->record, m->record_length, &sealed, &d->err);
        if (d->rc < 0 || strlen(sealed) < WIRE_SEALED_MAX || !m->head.text_length)
            return sealed;
        free(sealed);
        m->record_length -= m->head.text_length;
        m->head.text_length = 0;
    }
}

/* Sends the credential, and waits for the answer. */
static int ask(struct delivery *d, const char *sealed)
{
    char byte = 0;
    int before = __atomic_load_n(&d->connection, __ATOMIC_SEQ_CST);
    int fd = before == GIVEN_UP ? -ETIMEDOUT : listener_connect(d->call->address, d->call->port);
    if (fd < 0)
        return fd;
    if (!__atomic_compare_exchange_n(&d->connection, &before, fd, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        close(fd);
        return -ETIMEDOUT;
    }
    /* Some kernels of 2023 cannot end a connection while send() waits for it to be made. */
    poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
    ssize_t got = send(fd, sealed, strlen(sealed) + 1, MSG_NOSIGNAL);
    if (got > 0)
        got = recv(fd, &byte, 1, 0);
    return got < 0 ? -errno : got == 1 && byte == WIRE_TAKEN ? 0 : -ECONNRESET;
}

static void *deliver(void *arg)
{
    struct delivery *d = arg;
    char *sealed = seal(d);
    if (sealed && (d->rc = ask(d, sealed)) < 0)
        nuioa_fail(&d->err, d->rc, "srun took no record (%s)", strerror(-d->rc));
    free(sealed);
    eventfd_write(d->done, 1);
    return NULL;
}

static int start_thread(struct delivery *d)
{
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    return d->done < 0 || pthread_create(&thread, &small, deliver, d) ? -ENOMEM : 0;
}

/* Returns false if it is not done in time. */
static bool await(const struct delivery *d)
{
    const struct sender *s = d->call->sender;
    struct pollfd fds[] = { { .fd = d->done, .events = POLLIN },
                            { .fd = s->child_control, .events = POLLIN } };
    int64_t now_ms = nuioa_clock_ms();
    int64_t until_ms =
        now_ms + SENDER_MS + (int64_t)SENDER_NODE_MS * s->memory->head.seal.node_count;
    for (; now_ms < until_ms; now_ms = nuioa_clock_ms()) {
        poll(fds, 2, (int)(until_ms - now_ms));
        if (fds[0].revents)
            return true;
        if (fds[1].revents) { /* the node's last task has ended */
            fds[1].fd = -1;
            int64_t ended_ms = nuioa_clock_ms() + SENDER_ENDED_MS;
            until_ms = ended_ms < until_ms ? ended_ms : until_ms;
        }
    }
    return false;
}

/* Gives srun the record. Returns 0, or negative with *err. The connection ends when nobody waits
 * for it, so that srun does not take the record then. */
static int send_record(const struct sender_call *call, struct nuioa_error *err)
{
    static struct delivery d;
    d = (struct delivery){ call, NOT_SEALED, eventfd(0, EFD_CLOEXEC), 0, { "" } };
    if (start_thread(&d) < 0)
        return nuioa_fail(err, -ENOMEM, "the record of this node cannot be sealed");
    bool done = await(&d);
    int fd = __atomic_exchange_n(&d.connection, GIVEN_UP, __ATOMIC_SEQ_CST);
    if (fd >= 0 && !done)
        shutdown(fd, SHUT_RDWR); /* the thread has it */
    else if (fd >= 0)
        close(fd);
    if (done)
        close(d.done);
    if (!done && fd == NOT_SEALED)
        return nuioa_fail(err, -ETIMEDOUT, "MUNGE: no answer from munged; start it");
    if (!done)
        return nuioa_fail(err, -ETIMEDOUT, "srun took no record (no answer in time)");
    *err = d.err;
    return d.rc;
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
        if (decide(call->sender->memory) && !taken)
            print_own(call->sender->memory, output, err.text);
        close(output);
    }
    ssize_t done = write(fd, "", 1);
    (void)done;
}
