/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "input.h"
#include "spank/rendezvous/hello.h"
#include "spank/rendezvous/server_private.h"
#include "spank/rendezvous/summary.h"

/* srun's side of the rendezvous against hostile peers. The input is a byte of flags and actions:
 * somebody connects, sends, sends something with a right tag, closes, or time passes.
 *
 * The linker replaces the calls below (--wrap): the server's thread runs in this one, and its
 * epoll_wait() takes the next action whenever nothing has happened. Connections are pairs of
 * sockets, the clock stands still between actions, random numbers are zeros, and the child that
 * decodes credentials is a function here. */

enum { ENCRYPTED = 1, REPORTS = 2, ACCEPT_LIMIT = 4, SLICES = 8 };
enum { STEP_KNOWN = 16, EAGER = 32, SLOW = 64, STOP = 128 };
enum { NODES = 4, PEERS_MAX = 80, TURNS_MAX = 20000, SLEEPS_MAX = 100 };

/* One that has connected. */
struct other {
    int fd;              /* -1: not connected */
    struct hmac_key key; /* of its tags, if it wants right ones */
};

static struct {
    bool running;
    struct input *in;
    struct server *server;
    struct hmac_key step;
    struct other others[PEERS_MAX];
    unsigned connected, finished, turns, sleeps;
    int pending;  /* the server's end of the latest connection; -1: accepted */
    bool refuses; /* the next accept() fails */
    bool stops;   /* srun ends the server at the end of the input */
    bool slow;    /* decoders answer by an action, and the sockets of new peers take little */
    int64_t now_ms;
    struct {
        int fd; /* of the decoder; 0: none */
        size_t length;
        char text[MUNGE_WORKER_BYTES_MAX];
    } credentials[MUNGE_WORKERS];
    struct summary *summary;
} test;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_join(pthread_t thread, void **result);
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms);
int __real_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms);
int __wrap_listener_open(uint16_t first, uint16_t last, uint16_t *port);
int __wrap_listener_accept(int listener);
int64_t __wrap_nuioa_clock_ms(void);
ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags);
int __wrap_munge_worker_start(struct munge_worker *worker, const char *socket);
void __wrap_munge_worker_close(struct munge_worker *worker);
void __wrap_munge_worker_stop(struct munge_worker *worker);
int __wrap_munge_worker_ask(const struct munge_worker *worker, const char *text, size_t length);
int __wrap_munge_worker_answer(const struct munge_worker *worker, struct munge_answer *answer);

/* --- what the server is given ----------------------------------------------------------------- */

int64_t __wrap_nuioa_clock_ms(void)
{
    return test.now_ms;
}

ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    memset(to, 0, size);
    return (ssize_t)size;
}

/* The listener is an eventfd that is readable while a connection is pending. */
int __wrap_listener_open(uint16_t first, uint16_t last, uint16_t *port)
{
    (void)first, (void)last;
    *port = 99;
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int __wrap_listener_accept(int listener)
{
    uint64_t count;
    int fd = test.pending;
    bool refuses = test.refuses;
    test.refuses = false;
    if (refuses || fd < 0)
        return refuses ? -EMFILE : -EAGAIN;
    test.pending = -1;
    INPUT_CHECK(read(listener, &count, sizeof(count)) == sizeof(count));
    return fd;
}

static unsigned decoder_of(int fd)
{
    unsigned i = 0;
    while (i + 1 < MUNGE_WORKERS && test.credentials[i].fd != fd)
        i++;
    return i;
}

int __wrap_munge_worker_start(struct munge_worker *worker, const char *socket)
{
    (void)socket;
    *worker = (struct munge_worker){ 1, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    test.credentials[decoder_of(0)].fd = worker->fd;
    return 0;
}

void __wrap_munge_worker_close(struct munge_worker *worker)
{
    if (worker->fd >= 0) {
        test.credentials[decoder_of(worker->fd)].fd = 0;
        close(worker->fd);
    }
    worker->fd = -1;
}

void __wrap_munge_worker_stop(struct munge_worker *worker)
{
    __wrap_munge_worker_close(worker);
    worker->pid = 0;
}

static void let_answer(unsigned i)
{
    uint64_t one = 1;
    int fd = test.credentials[i].fd;
    if (fd > 0)
        INPUT_CHECK(write(fd, &one, sizeof(one)) == sizeof(one));
}

int __wrap_munge_worker_ask(const struct munge_worker *worker, const char *text, size_t length)
{
    unsigned i = decoder_of(worker->fd);
    INPUT_CHECK(length <= sizeof(test.credentials[i].text));
    memcpy(test.credentials[i].text, text, length);
    test.credentials[i].length = length;
    if (text[0] & 16)
        return -EPIPE;
    if (!test.slow)
        let_answer(i);
    return 0;
}

/* The answer of the child is in the credential: its first byte says how it fails, the rest without
 * the final NUL is what it holds. */
int __wrap_munge_worker_answer(const struct munge_worker *worker, struct munge_answer *answer)
{
    static const int results[] = { 0, 0, -EIO, -EACCES };
    unsigned i = decoder_of(worker->fd);
    const char *text = test.credentials[i].text;
    size_t length = test.credentials[i].length;
    uint64_t count;
    INPUT_CHECK(read(worker->fd, &count, sizeof(count)) == sizeof(count));
    if (text[0] & 4)
        return -EPIPE;
    memset(answer, 0, offsetof(struct munge_answer, bytes));
    answer->rc = results[text[0] & 3];
    answer->uid = text[0] & 8 ? 1 : 0;
    strcpy(answer->error, answer->rc ? "munged is not there" : "");
    answer->length = length > 2 ? (uint32_t)length - 2 : 0;
    memcpy(answer->bytes, text + 1, answer->length);
    return 0;
}

/* --- the callbacks ---------------------------------------------------------------------------- */

static void warn(void *arg, const char *text)
{
    (void)arg;
    INPUT_CHECK(*text);
}

static void *slice(void *arg, const uint32_t *ranks, uint32_t count, size_t *length)
{
    (void)arg;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += ranks[i];
    *length = sizeof(struct wire_slice) + count * sizeof(double);
    return sum == 1 ? NULL : calloc(1, *length);
}

static void take_record(void *arg, const struct record *record)
{
    (void)arg;
    INPUT_CHECK(!test.finished);
    summary_add(test.summary, record);
}

static void finish(void *arg)
{
    (void)arg;
    test.finished++;
}

/* --- the peers -------------------------------------------------------------------------------- */

static void connect_one(struct other *other)
{
    int ends[2], size = 4096;
    uint64_t one = 1;
    if (test.pending >= 0 || other->fd >= 0 || test.server->listener < 0)
        return;
    INPUT_CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
    if (test.slow)
        setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    *other = (struct other){ ends[0], test.step };
    test.pending = ends[1];
    test.connected++;
    INPUT_CHECK(write(test.server->listener, &one, sizeof(one)) == sizeof(one));
}

static void put(const struct other *other, const void *bytes, size_t length)
{
    if (other->fd >= 0)
        send(other->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The body of a right HELLO, with some numbers of the input. */
static void *make_hello(size_t *length, struct wire_hello *hello)
{
    static uint32_t ranks[2000];
    uint8_t how = input_byte(test.in);
    *hello = (struct wire_hello){
        .job_id = 7,
        .node = input_byte(test.in) % (NODES + 1),
        .node_count = how & 1 ? input_byte(test.in) : NODES,
        .task_count = how & 8 ? 2000 : 4,
    };
    hello->rank_count = how & 4 ? hello->task_count : 0;
    for (uint32_t i = 0; i < 2000; i++)
        ranks[i] = (how & 16 ? 0 : hello->node * 2000) + i;
    fault_pause();
    void *body = hello_make(hello, ranks, length);
    fault_resume();
    return body;
}

static void *make_record(size_t *length)
{
    struct wire_record *record = calloc(1, sizeof(*record));
    uint8_t how = input_byte(test.in);
    record->node = input_byte(test.in) % NODES;
    record->leader = how & 1 ? WIRE_NO_RANK : input_byte(test.in);
    record->task_count = 4;
    strcpy(record->host, "node");
    *length = sizeof(*record);
    return record;
}

/* Makes a body of this type; a right one, or the bytes of the input. */
static void *make_body(struct other *other, uint32_t type, bool right, size_t *length)
{
    struct wire_hello hello;
    void *body;
    if (right && type == WIRE_RECORD)
        return make_record(length);
    *length = input_below(test.in, 65536);
    if (!right || (type != WIRE_HELLO && type != WIRE_CREDENTIAL))
        return input_block(test.in, length);
    body = make_hello(length, &hello);
    tag_session(&other->key, &test.step, &hello);
    if (type == WIRE_HELLO)
        return body;
    char *credential = calloc(1, *length + 2);
    credential[0] = (char)input_byte(test.in);
    memcpy(credential + 1, body, *length);
    *length += 2;
    free(body);
    return credential;
}

/* Sends a message whose tag is right: a first one with the step's key, all others with the
 * session's. */
static void send_message(struct other *other)
{
    uint8_t how = input_byte(test.in), digest[SHA256_SIZE], tag[WIRE_TAG_SIZE];
    struct wire_frame frame = { WIRE_MAGIC, 1 + input_byte(test.in) % 20, 0 };
    struct hmac_key key = other->key;
    size_t length;
    void *body = make_body(other, frame.type, how & 1, &length);
    frame.length = how & 64 ? input_below(test.in, 65536) << 16 : (uint32_t)length;
    if (frame.type == WIRE_RECORD || how & 4)
        key = other->key;
    sha256_of(body, length, digest);
    tag_make(&key, how & 8 ? WIRE_FROM_SRUN : WIRE_FROM_NODE, &frame, digest, tag);
    tag[0] ^= (how & 16) != 0;
    put(other, &frame, sizeof(frame));
    put(other, body, length);
    put(other, tag, how & 32 ? 5 : sizeof(tag));
    free(body);
}

static void send_bytes(const struct other *other)
{
    size_t length = input_below(test.in, 65536);
    void *bytes = input_block(test.in, &length);
    put(other, bytes, length);
    free(bytes);
}

static void read_all(const struct other *other)
{
    char bytes[4096];
    while (other->fd >= 0 && recv(other->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
        ;
}

static void close_one(struct other *other)
{
    if (other->fd >= 0)
        close(other->fd);
    other->fd = -1;
}

/* Does one action of the input. */
static void act(void)
{
    uint8_t action = input_byte(test.in);
    struct other *other = &test.others[input_byte(test.in) % PEERS_MAX];
    switch (action % 8) {
    case 0: connect_one(other); break;
    case 1:
    case 2:
        connect_one(other);
        send_message(other);
        break;
    case 3: send_bytes(other); break;
    case 4: close_one(other); break;
    case 5: test.now_ms += input_below(test.in, 65536); break;
    case 6: read_all(other); break;
    default:
        test.refuses = other == &test.others[1];
        let_answer(other == &test.others[2]);
        break;
    }
}

/* --- the server's thread ---------------------------------------------------------------------- */

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg)
{
    if (!test.running)
        return __real_pthread_create(thread, attributes, run, arg);
    run(arg);
    return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
    return test.running ? 0 : __real_pthread_join(thread, result);
}

/* A server that never waits although nothing happens is a finding: it would use a processor. */
int __wrap_epoll_wait(int fd, struct epoll_event *events, int max, int timeout_ms)
{
    uint64_t one = 1;
    for (;;) {
        int count = __real_epoll_wait(fd, events, max, 0);
        INPUT_CHECK(test.turns++ < TURNS_MAX);
        if (count || !timeout_ms)
            return count;
        if (test.in->size) {
            act();
            if (timeout_ms >= 0)
                return 0; /* the time may be over now */
        } else if (timeout_ms >= 0 && !test.stops && test.sleeps++ < SLEEPS_MAX) {
            /* The thread sleeps a second at most, also while nothing will happen: it oversleeps. */
            test.now_ms += timeout_ms < 1000 ? timeout_ms : 60 * timeout_ms;
            return 0;
        } else {
            test.server->stopping = true;
            INPUT_CHECK(write(test.server->stop, &one, sizeof(one)) == sizeof(one));
        }
    }
}

static void run(const struct server_config *config, uint8_t flags)
{
    struct nuioa_error err;
    struct token token;
    if (!INPUT_HOLDS(!server_open(config, &test.server, &err)))
        return;
    INPUT_CHECK(!token_read(&token, server_text(test.server)));
    hmac_key_set(&test.step, token.key, sizeof(token.key));
    server_expect(test.server, flags & STEP_KNOWN ? 7 : UINT32_MAX, 0,
                  flags & STEP_KNOWN ? NODES : 0);
    if (INPUT_HOLDS(!server_start(test.server, flags & EAGER)))
        server_wait(test.server);
    struct server_counts counts = server_counts(test.server);
    INPUT_CHECK(test.finished <= 1 && counts.hellos <= WIRE_NODES_MAX);
    INPUT_CHECK(counts.records <= counts.hellos && counts.hellos <= counts.nodes);
    INPUT_CHECK(counts.unauthenticated_most <= SERVER_UNAUTHENTICATED_MAX);
    server_close(test.server);
}

static int lowest_descriptor(void)
{
    int fd = fcntl(0, F_DUPFD_CLOEXEC, 0);
    close(fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    uint8_t flags = input_byte(&in);
    int lowest = lowest_descriptor();
    struct server_config config = {
        .encrypted = flags & ENCRYPTED,
        .socket = "",
        .timeout_ms = 2000,
        .reports = flags & REPORTS,
        .accept_ms = flags & ACCEPT_LIMIT ? 5000 : 0,
        .warn = warn,
        .slice = flags & SLICES ? slice : NULL,
        .record = take_record,
        .finish = finish,
    };
    memset(&test, 0, sizeof(test));
    test.in = &in;
    test.running = true;
    test.slow = flags & SLOW;
    test.stops = flags & STOP;
    test.pending = -1;
    test.now_ms = 1000;
    test.summary = summary_new();
    for (int i = 0; i < PEERS_MAX; i++)
        test.others[i].fd = -1;
    run(&config, flags);
    for (int i = 0; i < PEERS_MAX; i++)
        close_one(&test.others[i]);
    if (test.pending >= 0)
        close(test.pending);
    free(summary_text(test.summary, true));
    summary_free(test.summary);
    test.running = false;
    INPUT_CHECK(lowest_descriptor() == lowest);
    return 0;
}
