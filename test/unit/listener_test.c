/* SPDX-License-Identifier: BSD-3-Clause */

/* The sockets between srun and the nodes: ports that are taken, addresses that lead nowhere, and a
 * kernel without IPv6 or memory. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "leak_check.h"
#include "spank/report/listener.h"

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
    assert_int_equal(accept(fd, NULL, NULL), -1); /* it has said nothing yet */
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(send(to, "x", 1, 0), 1);
    int from = accept(fd, NULL, NULL);
    char byte;
    assert_int_equal(recv(from, &byte, 1, 0), 1);
    close(from);
    close(to);
    close(fd);
    fd = listener_open(port, port, &port); /* although the kernel keeps the connection a minute */
    assert_true(fd >= 0);
    close(fd);
}

/* Replaces a function of the C library, too: for want of memory in the kernel. */
static bool no_buffers;

int getsockname(int fd, __SOCKADDR_ARG address, socklen_t *restrict length)
{
    errno = ENOBUFS;
    return no_buffers ? -1 : (int)syscall(SYS_getsockname, fd, address.__sockaddr__, length);
}

static void out_of_buffers(void **state)
{
    (void)state;
    struct leak_check before = leak_check_begin();
    uint16_t port;
    no_buffers = true;
    int rc = listener_open(0, 0, &port);
    no_buffers = false;
    assert_int_equal(rc, -ENOBUFS);
    leak_check_end(&before);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
