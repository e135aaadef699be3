/* SPDX-License-Identifier: BSD-3-Clause */
/* First, so that its own calls for memory can fail (faults.h). */
#include "spank/report/collector.c"

#include <sys/eventfd.h>

#include "input.h"

/* srun's collector with hostile peers, in this process. The input is a byte of flags and actions:
 * peers connect, send records, right and wrong ones, or any bytes, and hang up; time passes.
 *
 * The linker replaces the calls below (--wrap): connections are pairs of sockets, the clock runs
 * only when nothing happens, and a credential names a block of bytes of its peer, and how MUNGE
 * takes it. */

enum { STEP_KNOWN = 1, EXPLAIN = 2, PLACES = 4 };
enum { NODES = 3, PEERS = 80, TURNS_MAX = 100000 };

struct other {
    int fd; /* -1: not connected */
    char *content;
    size_t length;
};

static struct {
    struct input *in;
    struct other others[PEERS];
    int pending, listener, control; /* -1: none */
    bool no_descriptors;
    int64_t now_ms;
    unsigned turns, opened; /* `opened`: by the user's own credentials */
} test;

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int64_t __wrap_nuioa_clock_ms(void);
int __wrap_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_credential_decode(const char *socket, const char *credential, uid_t *uid, void **bytes,
                             size_t *length, struct nuioa_error *err);

int64_t __wrap_nuioa_clock_ms(void)
{
    return test.now_ms;
}

int __wrap_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags)
{
    uint64_t count;
    (void)address, (void)length, (void)flags;
    if (test.no_descriptors) {
        test.no_descriptors = false;
        errno = EMFILE;
        return -1;
    }
    int fd = test.pending;
    test.pending = -1;
    errno = EAGAIN;
    return read(listener, &count, sizeof(count)) < 0 ? -1 : fd;
}

int __wrap_credential_decode(const char *socket, const char *credential, uid_t *uid, void **bytes,
                             size_t *length, struct nuioa_error *err)
{
    static const int results[] = { 0, -EACCES, -EIO, -ENOMEM };
    const struct other *other = &test.others[(uint8_t)credential[0] % PEERS];
    uint8_t how = *credential ? (uint8_t)credential[1] : 1;
    (void)socket;
    INPUT_CHECK(strlen(credential) < WIRE_SEALED_MAX);
    *bytes = NULL;
    *length = 0;
    if (results[how & 3])
        return nuioa_fail(err, results[how & 3], "MUNGE: no");
    *uid = geteuid() + ((how & 4) != 0);
    test.opened += *uid == geteuid();
    *length = other->length;
    *bytes = other->length ? malloc(other->length) : NULL;
    if (other->length)
        memcpy(*bytes, other->content, other->length);
    return 0;
}

/* --- the peers --- */

static void connect_one(struct other *other)
{
    int ends[2];
    uint64_t one = 1;
    if (test.pending >= 0 || other->fd >= 0)
        return;
    INPUT_CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends));
    other->fd = ends[0];
    test.pending = ends[1];
    INPUT_CHECK(write(test.listener, &one, sizeof(one)) == sizeof(one));
}

static void close_one(struct other *other)
{
    if (other->fd >= 0)
        close(other->fd);
    other->fd = -1;
    free(other->content);
    other->content = NULL;
    other->length = 0;
}

static void put(const struct other *other, const void *bytes, size_t length)
{
    if (other->fd >= 0)
        send(other->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A right record with one part that the input may change. */
static void make_content(struct other *other)
{
    struct wire_record all = {
        .seal = { WIRE_PURPOSE, WIRE_VERSION, 7, 0, input_byte(test.in) % NODES, NODES },
    };
    size_t at = input_below(test.in, sizeof(all)), size = input_byte(test.in);
    all.task_count = 4;
    nuioa_copy(all.host, sizeof(all.host), "node1");
    input_fill(test.in, (char *)&all + at, size < sizeof(all) - at ? size : sizeof(all) - at);
    other->length = sizeof(all);
    other->content = malloc(sizeof(all));
    memcpy(other->content, &all, sizeof(all));
}

static void send_record(struct other *other)
{
    uint8_t how = input_byte(test.in);
    char credential[] = { (char)(other - test.others), (char)(how | 8), '\0' };
    free(other->content);
    if (how & 16) {
        other->length = input_below(test.in, 65536);
        other->content = input_block(test.in, &other->length);
    } else {
        make_content(other);
    }
    put(other, credential, how & 32 ? 2 : 3);
    if (how & 64)
        close_one(other);
}

static void send_bytes(const struct other *other)
{
    static const char filler[WIRE_SEALED_MAX] = { [0 ... WIRE_SEALED_MAX - 1] = 'x' };
    size_t length = input_below(test.in, 65536);
    if (!length) {
        put(other, filler, sizeof(filler));
        return;
    }
    void *bytes = input_block(test.in, &length);
    put(other, bytes, length);
    free(bytes);
}

static void act(void)
{
    uint8_t action = input_byte(test.in);
    struct other *other = &test.others[input_byte(test.in) % PEERS];
    switch (action % 8) {
    case 0:
    case 1: connect_one(other); break;
    case 2:
    case 3:
        connect_one(other);
        send_record(other);
        break;
    case 4: send_bytes(other); break;
    case 5: close_one(other); break;
    case 6: test.now_ms += input_below(test.in, 2000); break;
    default: test.no_descriptors = true; break;
    }
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    INPUT_CHECK(count <= 2 + COLLECTOR_STRANGERS_MAX);
    for (;;) {
        int ready = __real_poll(fds, count, 0);
        INPUT_CHECK(test.turns++ < TURNS_MAX);
        if (ready || !timeout_ms)
            return ready;
        if (test.in->size) {
            act();
            if (timeout_ms >= 0)
                return 0;
        } else if (test.control >= 0) {
            close(test.control);
            test.control = -1;
        } else {
            INPUT_CHECK(timeout_ms >= 0);
            test.now_ms += timeout_ms;
            return 0;
        }
    }
}

/* --- the collector --- */

static void say_line(const char *line)
{
    INPUT_CHECK(*line && strlen(line) < 600 && !strchr(line, '\n'));
}

static void print_text(const char *text)
{
    INPUT_CHECK(*text);
}

static void collect_all(uint8_t flags)
{
    int ends[2];
    struct summary *summary = summary_new();
    if (!summary)
        return; /* as run() */
    struct collection *c = calloc(1, sizeof(*c));
    INPUT_CHECK(!pipe2(ends, O_CLOEXEC));
    test.control = ends[0];
    test.listener = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->config = (struct collector_config){
        .listener = test.listener,
        .socket = "",
        .job_id = flags & STEP_KNOWN ? 7 : UINT32_MAX,
        .node_count = flags & STEP_KNOWN ? NODES : 0,
        .nodes = flags & PLACES ? "node[1-3]" : NULL,
        .explain = flags & EXPLAIN,
        .say = say_line,
        .print = print_text,
    };
    c->control = ends[1];
    c->summary = summary;
    collect(c);
    INPUT_CHECK(c->config.listener < 0 &&
                c->refused < COLLECTOR_REFUSED_MAX + COLLECTOR_STRANGERS_MAX);
    INPUT_CHECK(c->record_count <= test.opened && c->record_count <= WIRE_NODES_MAX);
    print(c);
    close(ends[1]);
    if (test.control >= 0)
        close(test.control);
    summary_free(c->summary);
    free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    int lowest = fcntl(0, F_DUPFD_CLOEXEC, 0);
    close(lowest);
    memset(&test, 0, sizeof(test));
    test.in = &in;
    test.now_ms = 1000000;
    test.pending = -1;
    for (int i = 0; i < PEERS; i++)
        test.others[i].fd = -1;
    collect_all(input_byte(&in));
    for (int i = 0; i < PEERS; i++)
        close_one(&test.others[i]);
    if (test.pending >= 0)
        close(test.pending);
    int now = fcntl(0, F_DUPFD_CLOEXEC, 0);
    close(now);
    INPUT_CHECK(now == lowest);
    return 0;
}
