/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/report/wire.h"
#include "util/clock.h"
#include "util/number.h"

/* Fills in a numeric address. Returns its length, or -EINVAL. */
static int make_address(const char *text, uint16_t port, struct sockaddr_storage *address)
{
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    *address = (struct sockaddr_storage){ .ss_family = AF_INET };
    four->sin_port = htons(port); /* IPv6 has its port in the same place */
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1)
        return sizeof(*four);
    address->ss_family = AF_INET6;
    return inet_pton(AF_INET6, text, &six->sin6_addr) == 1 ? (int)sizeof(*six) : -EINVAL;
}

/* Returns a socket that does not block, with which begin() has not failed; or -errno. */
static int open_socket(const char *text, uint16_t port,
                       int (*begin)(int fd, const struct sockaddr *address, socklen_t length))
{
    struct sockaddr_storage address;
    int length = make_address(text, port, &address);
    if (length < 0)
        return length;
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || !begin(fd, (struct sockaddr *)&address, (socklen_t)length))
        return fd < 0 ? -errno : fd;
    int rc = -errno;
    close(fd);
    return rc;
}

/* For a second the kernel keeps a connection to itself until its first bytes have come: a stranger
 * who says nothing takes no place among the accepted ones. A port whose last connections ended less
 * than a minute ago is free, as it is for Slurm. The queue of connections is as long as the kernel
 * allows (net.core.somaxconn), because many nodes may connect at once. A node that finds the queue
 * full tries again after a second. */
static int begin_to_listen(int fd, const struct sockaddr *address, socklen_t length)
{
    int off = 0, on = 1, second = 1;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &second, sizeof(second));
    return bind(fd, address, length) || listen(fd, INT_MAX);
}

/* The search begins anywhere, so that the listeners of one user rarely try the same ports. */
int listener_open(uint16_t first, uint16_t last, uint16_t *port)
{
    struct sockaddr_in6 address = { 0 }; /* IPv4 has its port in the same place */
    socklen_t length = sizeof(address);
    int fd = -EADDRINUSE, tries = last < first ? 1 : last - first + 1;
    uint16_t at = (uint16_t)(first + nuioa_clock_us() % tries);
    for (; tries && fd == -EADDRINUSE; tries--) {
        fd = open_socket("::", at, begin_to_listen);
        if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
            fd = open_socket("0.0.0.0", at, begin_to_listen);
        at = at == last ? first : (uint16_t)(at + 1);
    }
    if (fd >= 0 && getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    *port = ntohs(address.sin6_port);
    return fd;
}

static int begin_to_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return connect(fd, address, length) && errno != EINPROGRESS;
}

int listener_connect(const char *text, uint16_t port)
{
    return open_socket(text, port, begin_to_connect);
}

void listener_write_port(uint16_t port, char *text, size_t size)
{
    snprintf(text, size, "%d:%u", WIRE_VERSION, port);
}

int listener_read_port(const char *text, uint16_t *port, struct nuioa_error *err)
{
    char version[8];
    uint32_t number = 0;
    int length = snprintf(version, sizeof(version), "%d:", WIRE_VERSION);
    size_t digits = strspn(text, "0123456789");
    bool same = !strncmp(text, version, (size_t)length);
    if (!same && digits && text[digits] == ':')
        return nuioa_fail(err, -EPROTONOSUPPORT,
                          "srun's nuioa is another version: install the same one on srun's host "
                          "and on the nodes");
    if (!same || nuioa_parse_u32(text + length, UINT16_MAX, &number) < 0 || !number)
        return nuioa_fail(err, -EINVAL, "srun's port is not known");
    *port = (uint16_t)number;
    return 0;
}
