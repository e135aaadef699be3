/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "spank/rendezvous/credential.h"
#include "util/number.h"

/* Measures the time and memory of one srun for many nodes, over loopback, with auth=key or with
 * auth=munge and real credentials. One process simulates all nodes. Real nodes make their
 * credentials at the same time, so that step is timed apart. Prints the seconds for the first
 * messages, the seconds for the exchange, and srun's largest size in MB. Fails unless each node
 * is answered and reported. Usage: scale SOCKET key|munge NODES */

struct node {
    int fd;
    uint32_t node;
    size_t want;                        /* bytes of WELCOME that have not come */
    void *hello, *record;               /* with their tags */
    size_t hello_length, record_length; /* without the tags */
};

/* Allows a file descriptor for each node, here and in srun. */
static void raise_limit(uint32_t count)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < count + 100)
        limit.rlim_max = count + 100;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void put(int fd, const void *bytes, size_t length)
{
    for (const char *from = bytes; length;) {
        ssize_t sent = send(fd, from, length, MSG_NOSIGNAL);
        if (sent <= 0) {
            perror("scale: send");
            exit(1);
        }
        from += sent;
        length -= (size_t)sent;
    }
}

static void call(struct node *n, const struct harness *harness, int epoll)
{
    n->fd = harness_connect(harness);
    if (n->fd < 0) {
        fprintf(stderr, "scale: connect: %s\n", strerror(-n->fd));
        exit(1);
    }
    struct wire_frame hello = { WIRE_MAGIC, harness->encrypted ? WIRE_CREDENTIAL : WIRE_HELLO,
                                (uint32_t)n->hello_length };
    struct wire_frame record = { WIRE_MAGIC, WIRE_RECORD, (uint32_t)n->record_length };
    put(n->fd, &hello, sizeof(hello));
    put(n->fd, n->hello, n->hello_length + WIRE_TAG_SIZE);
    put(n->fd, &record, sizeof(record));
    put(n->fd, n->record, n->record_length + WIRE_TAG_SIZE);
    n->want = sizeof(struct wire_frame) + WIRE_TAG_SIZE;
    epoll_ctl(epoll, EPOLL_CTL_ADD, n->fd,
              &(struct epoll_event){ .events = EPOLLIN, .data.ptr = n });
}

/* Reads what has arrived. Returns true when the node has the whole answer. */
static bool hear(struct node *n)
{
    char bytes[sizeof(struct wire_frame) + WIRE_TAG_SIZE];
    while (n->want) {
        ssize_t got = recv(n->fd, bytes, n->want, MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN)
            return false;
        if (got <= 0) {
            fprintf(stderr, "scale: node %u was disconnected\n", n->node);
            exit(1);
        }
        n->want -= (size_t)got;
    }
    return true;
}

/* Returns the message with its tag. Real nodes do this at the same time, too. */
static void *add_tag(const struct hmac_key *key, uint32_t type, void *body, size_t length)
{
    struct wire_frame frame = { WIRE_MAGIC, type, (uint32_t)length };
    char *message = realloc(body, length + WIRE_TAG_SIZE);
    harness_tag(key, WIRE_FROM_NODE, &frame, message, (uint8_t *)message + length);
    return message;
}

static void *encrypt(const struct harness *harness, void *hello, size_t *length)
{
    struct nuioa_error err;
    char *credential;
    if (credential_make(harness->socket, USER_UID, hello, *length, &credential, &err) < 0) {
        fprintf(stderr, "scale: %s\n", err.text);
        exit(1);
    }
    free(hello);
    *length = strlen(credential) + 1;
    return credential;
}

static void prepare(struct node *nodes, uint32_t count, const struct harness *harness)
{
    struct hmac_key step = harness_key(harness->text);
    for (uint32_t i = 0; i < count; i++) {
        struct node *n = &nodes[i];
        struct client_call call = harness_call(harness, i, count);
        struct wire_hello hello = harness_hello(&call);
        struct hmac_key session = harness_session(&step, &hello);
        n->node = i;
        n->hello = hello_make(&hello, NULL, &n->hello_length);
        if (harness->encrypted)
            n->hello = encrypt(harness, n->hello, &n->hello_length);
        n->hello = add_tag(&step, harness->encrypted ? WIRE_CREDENTIAL : WIRE_HELLO, n->hello,
                           n->hello_length);
        n->record = harness_record(i, &n->record_length);
        n->record = add_tag(&session, WIRE_RECORD, n->record, n->record_length);
    }
}

static void measure(const char *socket, bool encrypted, uint32_t count)
{
    struct harness harness = { .encrypted = encrypted, .socket = socket, .timeout_ms = 60000 };
    struct srun_result result;
    struct epoll_event events[64];
    struct node *nodes = calloc(count, sizeof(*nodes));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    harness_open(&harness);
    int64_t start = harness_ms();
    prepare(nodes, count, &harness);
    int64_t prepared = harness_ms();
    uint32_t done = 0;
    for (uint32_t called = 0; done < count;) {
        for (int burst = 0; burst < 64 && called < count; burst++)
            call(&nodes[called++], &harness, epoll);
        int ready = epoll_wait(epoll, events, 64, called < count ? 0 : 1000);
        for (int i = 0; i < ready; i++)
            if (hear(events[i].data.ptr)) {
                struct node *n = events[i].data.ptr;
                epoll_ctl(epoll, EPOLL_CTL_DEL, n->fd, NULL);
                done++;
            }
    }
    if (!harness_finish(&harness, &result) || result.counts.records != count || !result.reports)
        exit(1);
    int64_t gathered = harness_ms();
    printf("%.3f %.3f %.1f\n", (double)(prepared - start) / 1000,
           (double)(gathered - prepared) / 1000, (double)result.rss_kb / 1024);
    for (uint32_t i = 0; i < count; i++) {
        close(nodes[i].fd);
        free(nodes[i].hello);
        free(nodes[i].record);
    }
    close(epoll);
    free(nodes);
}

int main(int argc, char **argv)
{
    uint32_t count;
    if (argc != 4 || nuioa_parse_u32(argv[3], WIRE_NODES_MAX, &count) < 0 || !count) {
        fprintf(stderr, "Usage: scale SOCKET key|munge NODES\n");
        return 2;
    }
    raise_limit(count);
    signal(SIGPIPE, SIG_IGN);
    if (setresgid(USER_UID, USER_UID, USER_UID) < 0 || setresuid(USER_UID, USER_UID, USER_UID) < 0)
        return 1;
    measure(argv[1], !strcmp(argv[2], "munge"), count);
    return 0;
}
