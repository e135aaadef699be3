/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/rendezvous/client.h"
#include "spank/rendezvous/tag.h"
#include "input.h"

/* A node's side of the rendezvous, in slurmstepd as root, against an srun that the user has
 * replaced. The input is two bytes of flags, the node's tasks, the nodes of the step, the bytes
 * that the child reports which makes the credential (auth=munge), and the messages of srun. A
 * message is a byte of flags, its type, two bytes of length, and its body.
 *
 * The linker replaces the calls below (--wrap): sockets by a pair of them, which may give one byte
 * after the other, the clock by one that runs while bytes come or nothing happens, random numbers
 * by zeros, and the child by the bytes in the input. */

enum { MUNGE = 1, SLICE = 2, RECORD = 8, CHILD = 16, STEP_OVER = 32, IPV6 = 64, NO_ADDRESS = 128 };
/* In the second byte: srun stays silent after its messages instead of closing; what is wrong with
 * the call; its bytes come one by one. */
enum { SILENT = 1, OTHER_VERSION = 2, OTHER_AUTH = 4, NO_SUCH_NODE = 8, DRIPS = 16 };
enum { RIGHT_FRAME = 1, RIGHT_TAG = 2, RIGHT_HEAD = 4 };

static int ends[2]; /* the node's, srun's */
static struct input *child;
static int64_t now_us;
static bool running, silent, drips;
/* The longest that a byte is on its way if they come one by one. */
#define DRIP_US 10000
#define TIMEOUT_US 1000000
static int64_t asked_us; /* when the node has last asked whether the step is over */

int __wrap_socket(int family, int type, int protocol);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length);
ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags);
int64_t __wrap_nuioa_clock_us(void);
ssize_t __wrap_recv(int fd, void *to, size_t length, int flags);
ssize_t __real_recv(int fd, void *to, size_t length, int flags);
int __wrap_poll(struct pollfd *waited, nfds_t count, int timeout_ms);
int __real_poll(struct pollfd *waited, nfds_t count, int timeout_ms);
int __wrap_nuioa_subprocess_start(struct nuioa_subprocess *process, nuioa_subprocess_work *work,
                                  void *arg, int keep, unsigned life_ms);
int __wrap_nuioa_subprocess_collect(struct nuioa_subprocess *process, unsigned deadline_ms,
                                    size_t max, void **bytes, size_t *length);
void __wrap_nuioa_subprocess_end(struct nuioa_subprocess *process);

int __wrap_socket(int family, int type, int protocol)
{
    (void)family, (void)type, (void)protocol;
    int fd = ends[0];
    ends[0] = -1;
    return fd;
}

int __wrap_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    (void)fd, (void)address, (void)length;
    return 0;
}

ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    memset(to, 0, size);
    return (ssize_t)size;
}

int64_t __wrap_nuioa_clock_us(void)
{
    return now_us;
}

/* Time passes while bytes come. A node that waits for them asks ten times a second whether the step
 * is over, and does not wait for longer than it may. */
ssize_t __wrap_recv(int fd, void *to, size_t length, int flags)
{
    if (!running || !drips)
        return __real_recv(fd, to, length, flags);
    now_us += DRIP_US;
    INPUT_CHECK(now_us - asked_us <= 2 * 100000);
    return __real_recv(fd, to, length ? 1 : 0, flags);
}

/* Time passes while nothing happens. */
int __wrap_poll(struct pollfd *waited, nfds_t count, int timeout_ms)
{
    int ready = running ? __real_poll(waited, count, 0) : __real_poll(waited, count, timeout_ms);
    if (running && !ready)
        now_us += timeout_ms * 1000;
    return ready;
}

int __wrap_nuioa_subprocess_start(struct nuioa_subprocess *process, nuioa_subprocess_work *work,
                                  void *arg, int keep, unsigned life_ms)
{
    (void)work, (void)arg, (void)keep, (void)life_ms;
    /* The child has said something, or is still silent. */
    *process = (struct nuioa_subprocess){ 1, eventfd(!silent, EFD_CLOEXEC) };
    return 0;
}

void __wrap_nuioa_subprocess_end(struct nuioa_subprocess *process)
{
    if (process->pid)
        close(process->fd);
    *process = (struct nuioa_subprocess)NUIOA_SUBPROCESS_NONE;
}

int __wrap_nuioa_subprocess_collect(struct nuioa_subprocess *process, unsigned deadline_ms,
                                    size_t max, void **bytes, size_t *length)
{
    (void)deadline_ms;
    __wrap_nuioa_subprocess_end(process);
    if (input_byte(child) & 1)
        return -ETIMEDOUT;
    *length = input_byte(child) & 1 ? max : input_byte(child);
    void *block = calloc(1, max);
    input_fill(child, block, *length < max ? *length : max);
    *bytes = block;
    return *length > max ? -EFBIG : 0;
}

/* --- srun ------------------------------------------------------------------------------------- */

/* Makes the head of a slice right. */
static void make_head(const struct client *g, uint32_t type, char *body, size_t length)
{
    struct wire_slice slice = { .weight_count = g->task_count };
    size_t weights = sizeof(slice) + g->task_count * sizeof(double);
    if (type == WIRE_WELCOME && length >= weights) {
        slice.pair_count = (uint32_t)((length - weights) / sizeof(struct wire_pair));
        memcpy(body, &slice, sizeof(slice));
    }
}

static void send_message(const struct client *g, struct input *in)
{
    uint8_t flags = input_byte(in), digest[SHA256_SIZE], tag[WIRE_TAG_SIZE] = { 0 };
    struct wire_frame frame = { WIRE_MAGIC, input_byte(in), input_below(in, 65536) };
    size_t length = frame.length;
    char *body = input_block(in, &length);
    if (flags & RIGHT_FRAME)
        frame.length = (uint32_t)length;
    else if (input_byte(in) & 1)
        input_fill(in, &frame, sizeof(frame));
    if (flags & RIGHT_HEAD)
        make_head(g, frame.type, body, length);
    sha256_of(body, length, digest);
    if (flags & RIGHT_TAG)
        tag_make(&g->session, WIRE_FROM_SRUN, &frame, digest, tag);
    send(ends[1], &frame, sizeof(frame), MSG_DONTWAIT | MSG_NOSIGNAL);
    send(ends[1], body, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    send(ends[1], tag, sizeof(tag), MSG_DONTWAIT | MSG_NOSIGNAL);
    free(body);
}

/* --- the node --------------------------------------------------------------------------------- */

static bool is_over(void *arg)
{
    asked_us = now_us;
    return *(uint8_t *)arg & STEP_OVER;
}

/* The calls of slurmstepd, in its order. */
static void take_part(struct client *g, uint8_t flags)
{
    double *weights = calloc(g->task_count + 1, sizeof(*weights));
    uint32_t pair_count;
    struct wire_record *record = calloc(1, sizeof(*record));
    struct nuioa_pair *pairs = NULL;
    struct nuioa_error err;
    int rc = 0;
    if (flags & SLICE)
        rc = client_receive_slice(g, weights, &pairs, &pair_count, &err);
    for (uint32_t i = 0; rc == 1 && i < pair_count; i++)
        INPUT_CHECK(pairs[i].first < pairs[i].second && pairs[i].second < g->task_count);
    client_is_answered(g);
    if (rc >= 0 && flags & RECORD)
        rc = client_send_record(g, record, sizeof(*record), &err);
    if (rc >= 0)
        rc = client_receive_welcome(g, &err);
    INPUT_CHECK(rc >= 0 || g->fd < 0);
    free(pairs);
    free(record);
    free(weights);
}

/* Calls srun. Returns whether the call has been made. */
static bool call_srun(struct client *client, const struct client_call *call)
{
    struct nuioa_error err = { "" };
    int rc = client_call(client, call, &err);
    INPUT_CHECK(rc == 0 || (*err.text && client->fd < 0));
    return rc == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    uint8_t flags = input_byte(&in), more = input_byte(&in);
    uint32_t tasks = input_byte(&in) % 64, nodes = 1 + input_byte(&in) % 16;
    char token[128];
    uint32_t ranks[64];
    struct client client = CLIENT_NONE;
    struct client_call call = {
        .address = flags & IPV6         ? "::1"
                   : flags & NO_ADDRESS ? "srun"
                                        : "127.0.0.1",
        .srun = token,
        .munge = more & OTHER_AUTH,
        .socket = "",
        .timeout_ms = TIMEOUT_US / 1000,
        .job_id = 7,
        .node = more & NO_SUCH_NODE ? 20 : 0,
        .task_count = tasks,
        .node_count = nodes,
        .ranks = flags & SLICE ? ranks : NULL,
        .is_over = is_over,
        .arg = &flags,
    };
    snprintf(token, sizeof(token), "%u:%s:99:%064u",
             more & OTHER_VERSION ? WIRE_VERSION + 1 : WIRE_VERSION,
             flags & MUNGE ? "munge" : "key", 0);
    for (uint32_t i = 0; i < 64; i++)
        ranks[i] = i;
    size_t told = flags & CHILD ? 2 + sizeof(struct nuioa_error) + 8 : 2;
    void *said = input_block(&in, &told);
    struct input report = { said, told };
    child = &report;
    INPUT_CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends));
    asked_us = now_us = 1000000;
    running = true;
    silent = more & SILENT;
    drips = more & DRIPS;
    if (call_srun(&client, &call)) {
        while (in.size)
            send_message(&client, &in);
        if (!(more & SILENT))
            shutdown(ends[1], SHUT_WR);
        take_part(&client, flags);
        /* The time is over at the latest while a byte, or nothing, comes. */
        INPUT_CHECK(now_us - 1000000 <= TIMEOUT_US + 4 * DRIP_US);
        client_close(&client);
    }
    running = false;
    if (ends[0] >= 0)
        close(ends[0]); /* nobody has asked for it */
    close(ends[1]);
    free(said);
    return 0;
}
