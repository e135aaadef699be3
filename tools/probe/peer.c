/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/probe/process.h"
#include "util/clock.h"
#include "util/subprocess.h"

/* How long the tasks may take to meet, a stranger or the other one to say hello, a name server to
 * answer, and a message to go. */
enum { MEET_MS = 60000, HELLO_MS = 2000, NAME_MS = 10000, SEND_MS = 5000 };

/* The ports: some for each step, should one be in use, below those that systems give away. */
enum { PORT_FIRST = 20000, PORTS = 10000, TRIES = 4 };

static unsigned port_of(const struct probe_step *step, unsigned attempt)
{
    return PORT_FIRST + (step->job * 31 + step->step * 7) % (PORTS / TRIES) * TRIES + attempt;
}

static int interrupted(struct nuioa_error *err)
{
    return nuioa_fail(err, -EINTR, "stopped by signal %d", probe_processes_stopped());
}

/* Waits until something can be done with a descriptor, or until `end_ms`. Returns 0, -EINTR or
 * -ETIMEDOUT. */
static int await(int fd, short events, int64_t end_ms)
{
    while (!probe_processes_stopped()) {
        int64_t left_ms = end_ms - nuioa_clock_ms();
        struct pollfd one = { .fd = fd, .events = events };
        if (poll(&one, 1, left_ms < 0 ? 0 : left_ms < 100 ? (int)left_ms : 100) > 0)
            return 0;
        if (left_ms <= 0)
            return -ETIMEDOUT;
    }
    return -EINTR;
}

/* --- messages --------------------------------------------------------------------------------- */

int probe_peer_send(struct probe_peer *peer, const struct probe_message *message,
                    struct nuioa_error *err)
{
    char line[PROBE_MESSAGE_BYTES];
    size_t left = probe_message_print(message, line);
    int64_t end_ms = nuioa_clock_ms() + SEND_MS;
    for (const char *from = line; left;) {
        int rc = await(peer->fd, POLLOUT, end_ms);
        ssize_t sent = rc ? -1 : send(peer->fd, from, left, MSG_NOSIGNAL);
        if (rc == -EINTR)
            return interrupted(err);
        if (rc || (sent < 0 && errno != EAGAIN && errno != EINTR))
            return nuioa_fail(err, -ECONNRESET,
                              "the task on %s has ended: what it prints may say why", peer->name);
        from += sent > 0 ? sent : 0;
        left -= sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

/* Makes a message of the first line, if there is a whole one: returns 0, -EAGAIN or -EINVAL. */
static int take_line(struct probe_peer *peer, struct probe_message *message)
{
    char *end = memchr(peer->input, '\n', peer->length);
    if (!end)
        return peer->length < sizeof(peer->input) ? -EAGAIN : -EINVAL;
    *end = '\0';
    size_t taken = (size_t)(end - peer->input) + 1;
    int rc = strlen(peer->input) + 1 == taken ? probe_message_parse(peer->input, message) : -EINVAL;
    peer->length -= taken;
    memmove(peer->input, end + 1, peer->length);
    return rc;
}

int probe_peer_receive(struct probe_peer *peer, unsigned timeout_ms, struct probe_message *message,
                       struct nuioa_error *err)
{
    int64_t end_ms = nuioa_clock_ms() + timeout_ms;
    int rc;
    while ((rc = take_line(peer, message)) == -EAGAIN) {
        rc = await(peer->fd, POLLIN, end_ms);
        if (rc == -EINTR)
            return interrupted(err);
        if (rc && !timeout_ms)
            return -EAGAIN;
        if (rc)
            return nuioa_fail(err, rc, "%s said nothing for %u s", peer->name, timeout_ms / 1000);
        ssize_t got =
            recv(peer->fd, peer->input + peer->length, sizeof(peer->input) - peer->length, 0);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return nuioa_fail(err, -ECONNRESET,
                              "the task on %s has ended: what it prints may say why", peer->name);
        peer->length += got > 0 ? (size_t)got : 0;
    }
    if (rc)
        return nuioa_fail(err, -ECONNRESET, "%s speaks another language: is it the same nuioa?",
                          peer->name);
    return 0;
}

/* --- how they meet ---------------------------------------------------------------------------- */

struct address {
    struct sockaddr_storage name;
    socklen_t length;
};

/* Asks for the address of a node, in a child: name servers may take as long as they like. */
static void find_address(int fd, void *arg)
{
    struct addrinfo wanted = { .ai_socktype = SOCK_STREAM }, *found;
    struct address address = { .length = 0 };
    if (getaddrinfo(arg, NULL, &wanted, &found))
        return;
    memcpy(&address.name, found->ai_addr, found->ai_addrlen);
    address.length = found->ai_addrlen;
    nuioa_subprocess_write(fd, &address, sizeof(address));
}

static int resolve(const char *name, struct address *address, struct nuioa_error *err)
{
    char copy[64];
    void *bytes = NULL;
    size_t length = 0;
    nuioa_copy(copy, sizeof(copy), name);
    int rc = nuioa_subprocess_run(find_address, copy, NAME_MS, sizeof(*address), &bytes, &length);
    if (!rc && length == sizeof(*address))
        memcpy(address, bytes, sizeof(*address));
    else
        rc = nuioa_fail(err, -ENOENT, "the name of %s has no address on this node", name);
    free(bytes);
    return rc;
}

static void set_port(struct address *address, unsigned port)
{
    if (address->name.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&address->name)->sin6_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in *)&address->name)->sin_port = htons((uint16_t)port);
}

static int open_socket(int family)
{
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Returns a socket that listens on the first free port of the step, for all addresses; or -1. */
static int listen_for(const struct probe_step *step)
{
    const int yes = 1, no = 0;
    struct sockaddr_in6 all = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT };
    struct sockaddr_in all4 = { .sin_family = AF_INET };
    for (unsigned i = 0; i < TRIES; i++) {
        int fd = open_socket(AF_INET6);
        bool is6 = fd >= 0;
        fd = is6 ? fd : open_socket(AF_INET);
        all.sin6_port = all4.sin_port = htons((uint16_t)port_of(step, i));
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (is6)
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
        if (fd >= 0 &&
            !bind(fd, is6 ? (struct sockaddr *)&all : (struct sockaddr *)&all4,
                  is6 ? sizeof(all) : sizeof(all4)) &&
            !listen(fd, 4))
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

/* Says hello on a new connection and hears whether it is the other task. */
static bool greet(struct probe_peer *peer, const struct probe_step *step)
{
    struct nuioa_error err;
    struct probe_message hello = { .kind = PROBE_HELLO,
                                   .numbers = { step->job, step->step, PROBE_MESSAGE_VERSION } };
    struct probe_message answer;
    return !probe_peer_send(peer, &hello, &err) &&
           !probe_peer_receive(peer, HELLO_MS, &answer, &err) && answer.kind == PROBE_HELLO &&
           !memcmp(answer.numbers, hello.numbers, sizeof(hello.numbers));
}

/* Takes connections, or makes them, until one is the other task's. */
static bool try_once(struct probe_peer *peer, const struct probe_step *step, int listener,
                     struct address *address, unsigned attempt)
{
    int error = 0;
    socklen_t size = sizeof(error);
    if (listener >= 0) {
        if (await(listener, POLLIN, nuioa_clock_ms() + 500))
            return false;
        peer->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    } else {
        set_port(address, port_of(step, attempt % TRIES));
        peer->fd = open_socket(address->name.ss_family);
        if (peer->fd >= 0 &&
            connect(peer->fd, (struct sockaddr *)&address->name, address->length) &&
            (errno != EINPROGRESS || await(peer->fd, POLLOUT, nuioa_clock_ms() + HELLO_MS) ||
             getsockopt(peer->fd, SOL_SOCKET, SO_ERROR, &error, &size) || error)) {
            probe_peer_close(peer);
            poll(NULL, 0, 50);
        }
    }
    if (peer->fd >= 0 && !greet(peer, step))
        probe_peer_close(peer);
    return peer->fd >= 0;
}

/* Finds the other node's address as programs take it. */
static int name_address(struct probe_peer *peer, struct nuioa_error *err)
{
    struct address other = { .length = sizeof(other.name) };
    if (getpeername(peer->fd, (struct sockaddr *)&other.name, &other.length) ||
        getnameinfo((struct sockaddr *)&other.name, other.length, peer->address,
                    sizeof(peer->address), NULL, 0, NI_NUMERICHOST))
        return nuioa_fail(err, -ENOTCONN, "the address of %s is not known", peer->name);
    /* An IPv4 address that came to a socket for both. */
    if (!strncmp(peer->address, "::ffff:", 7) && strchr(peer->address, '.'))
        memmove(peer->address, peer->address + 7, strlen(peer->address + 7) + 1);
    return 0;
}

static int meet(struct probe_peer *peer, const struct probe_step *step, int listener,
                struct address *address, struct nuioa_error *err)
{
    int64_t end_ms = nuioa_clock_ms() + MEET_MS;
    for (unsigned i = 0; !try_once(peer, step, listener, address, i); i++) {
        if (probe_processes_stopped())
            return interrupted(err);
        if (nuioa_clock_ms() >= end_ms)
            return nuioa_fail(err, -ETIMEDOUT,
                              "%s was not met within %d s: does the same run there, and may the "
                              "nodes reach each other's TCP ports %u to %u?",
                              step->there, MEET_MS / 1000, port_of(step, 0),
                              port_of(step, TRIES - 1));
    }
    return name_address(peer, err);
}

int probe_peer_meet(struct probe_peer *peer, const struct probe_step *step, struct nuioa_error *err)
{
    struct address address = { .length = 0 };
    *peer = (struct probe_peer){ .name = step->there, .fd = -1 };
    int listener = step->first ? listen_for(step) : -1;
    int rc = step->first ? 0 : resolve(step->there, &address, err);
    if (step->first && listener < 0)
        rc = nuioa_fail(err, -EADDRINUSE, "none of the TCP ports %u to %u is free on %s",
                        port_of(step, 0), port_of(step, TRIES - 1), step->here);
    if (!rc)
        rc = meet(peer, step, listener, &address, err);
    if (listener >= 0)
        close(listener);
    return rc;
}

void probe_peer_close(struct probe_peer *peer)
{
    if (peer->fd >= 0)
        close(peer->fd);
    peer->fd = -1;
    peer->length = 0;
}
