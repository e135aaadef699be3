/* SPDX-License-Identifier: BSD-3-Clause */

/* The sockets between srun and the nodes: ports that are taken, addresses that lead nowhere, and a
 * kernel without IPv6, memory or descriptors. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "leak_check.h"
#include "spank/rendezvous/client.h"
#include "spank/rendezvous/listener.h"
#include "spank/rendezvous/server.h"
#include "spank/rendezvous/token.h"
#include "util/descriptors.h"

/* Replaces the function of the C library: a kernel without IPv6. */
static bool no_ipv6;

int socket(int family, int type, int protocol)
{
    if (!no_ipv6 || family != AF_INET6)
        return (int)syscall(SYS_socket, family, type, protocol);
    errno = EAFNOSUPPORT;
    return -1;
}

static void ipv4_only(void **state)
{
    (void)state;
    uint16_t port;
    no_ipv6 = true;
    int fd = listener_open(0, 0, &port), to = listener_connect("127.0.0.1", port);
    assert_int_equal(listener_connect("::1", port), -EAFNOSUPPORT);
    no_ipv6 = false;
    assert_true(fd >= 0 && port > 0 && to >= 0);
    assert_int_equal(listener_accept(fd), -EAGAIN); /* it has said nothing yet */
    assert_int_equal(send(to, "x", 1, 0), 1);
    int from = listener_accept(fd);
    assert_true(from >= 0);
    close(from);
    close(to);
    close(fd);
}

/* These replace functions of the C library, too: for want of memory in the kernel. */
static bool no_buffers;

int getsockname(int fd, __SOCKADDR_ARG address, socklen_t *restrict length)
{
    errno = ENOBUFS;
    return no_buffers ? -1 : (int)syscall(SYS_getsockname, fd, address.__sockaddr__, length);
}

int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict length)
{
    errno = ENOBUFS;
    return no_buffers ? -1 : (int)syscall(SYS_getsockopt, fd, level, name, value, length);
}

static void out_of_buffers(void **state)
{
    (void)state;
    struct leak_check before = leak_check_begin();
    struct server_config config = { 0 };
    struct server *server;
    struct nuioa_error err;
    struct client client;
    uint16_t port;
    no_buffers = true;
    assert_int_equal(listener_open(0, 0, &port), -ENOBUFS);
    no_buffers = false;

    assert_int_equal(server_open(&config, &server, &err), 0);
    struct client_call call = { .address = "127.0.0.1", .srun = server_text(server) };
    call.node_count = call.task_count = 1;
    call.timeout_ms = 10000;
    no_buffers = true;
    int rc = client_call(&client, &call, &err);
    no_buffers = false;
    assert_int_equal(rc, -ENOBUFS);
    assert_string_equal(err.text,
                        "gather: cannot reach srun at 127.0.0.1: No buffer space available");
    client_close(&client);
    server_close(server);
    leak_check_end(&before);
}

/* The listener is closed then: nodes must not connect and wait for nothing. */
static void server_without_descriptors(void **state)
{
    (void)state;
    struct leak_check before = leak_check_begin();
    struct server_config config = { 0 };
    struct server *server;
    struct nuioa_error err;
    struct token token;
    struct rlimit all, none = { .rlim_cur = 0 };
    assert_int_equal(server_open(&config, &server, &err), 0);
    assert_int_equal(token_read(&token, server_text(server)), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    none.rlim_max = all.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rc = server_start(server, false);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
    assert_int_equal(rc, -EMFILE);
    int again = listener_open(token.port, token.port, &token.port);
    assert_true(again >= 0);
    close(again);
    server_close(server);
    leak_check_end(&before);
}

static uint32_t room(void *arg, uint32_t node_count)
{
    (void)node_count;
    return *(uint32_t *)arg;
}

static void server_with_too_little_room(void **state)
{
    (void)state;
    struct leak_check before = leak_check_begin();
    uint32_t connections = 3;
    struct server_config config = { .room = room, .arg = &connections };
    struct server *server;
    struct nuioa_error err;
    for (uint32_t nodes = 2; nodes <= 4; nodes++) {
        assert_int_equal(server_open(&config, &server, &err), 0);
        server_expect(server, 7, 0, nodes);
        assert_int_equal(server_start(server, false), nodes > connections ? -E2BIG : 0);
        server_close(server);
    }
    connections = 0; /* of a step with a number of nodes that is not known yet */
    assert_int_equal(server_open(&config, &server, &err), 0);
    assert_int_equal(server_start(server, false), -E2BIG);
    server_close(server);
    leak_check_end(&before);
}

static void free_descriptors(void **state)
{
    (void)state;
    struct rlimit all, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    uint32_t free = nuioa_free_descriptors(all.rlim_cur);
    int fd = dup(0);
    assert_int_equal(nuioa_free_descriptors(all.rlim_cur), free - 1);
    few = (struct rlimit){ (rlim_t)fd + 11, all.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    uint32_t left = nuioa_free_descriptors(few.rlim_cur), opened = 0;
    int fds[16];
    while (opened < 16 && (fds[opened] = dup(0)) >= 0)
        opened++;
    uint32_t none = nuioa_free_descriptors(few.rlim_cur);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
    for (uint32_t i = 0; i < opened; i++)
        close(fds[i]);
    close(fd);
    assert_true(left > 0);
    assert_int_equal(opened, left);
    assert_int_equal(none, 0);
    assert_int_equal(nuioa_free_descriptors(RLIM_INFINITY), UINT32_MAX);
}

/* Ports that are taken, and addresses that are none or lead nowhere. */
static void listeners(void **state)
{
    (void)state;
    struct leak_check before = leak_check_begin();
    uint16_t port, other;
    int fd = listener_open(0, 0, &port);
    assert_true(fd >= 0 && port > 0);
    assert_int_equal(listener_open(port, port, &other), -EADDRINUSE);
    assert_int_equal(listener_connect("localhost", port), -EINVAL);
    assert_true(listener_connect("fe80::1", port) < 0); /* of no interface */
    close(fd);
    leak_check_end(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listeners),
        cmocka_unit_test(ipv4_only),
        cmocka_unit_test(out_of_buffers),
        cmocka_unit_test(server_without_descriptors),
        cmocka_unit_test(server_with_too_little_room),
        cmocka_unit_test(free_descriptors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
