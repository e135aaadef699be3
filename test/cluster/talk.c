/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks on different nodes talk over TCP, without MPI. The lowest rank of each node is its talker;
 * the others wait for its end.
 *
 *     talk stream BYTES       each node sends so many bytes to the next one, and gets as many
 *     talk pingpong COUNT     each pair of nodes exchanges so many messages of one byte
 *     talk quiet MS           nobody talks
 *     talk to ADDRESS BYTES [ADDRESS BYTES]...
 *                             node 0 sends so many bytes to each of these addresses of node 1
 *
 * Prints "done", or dies. Nodes are node1 to nodeN at 10.77.0.1 to 10.77.0.N, as "up" makes them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 5077
#define PART 65536

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "talk: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int number(const char *name)
{
    const char *text = getenv(name);
    need(text != NULL, name);
    return atoi(text);
}

static int listen_here(void)
{
    int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(PORT) };
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    need(!bind(fd, (struct sockaddr *)&any, sizeof(any)) && !listen(fd, 8), "listen");
    return fd;
}

/* The other node may not listen yet. */
static int call(struct in_addr address)
{
    struct sockaddr_in to = { AF_INET, htons(PORT), address, { 0 } };
    for (int i = 0; i < 3000; i++) {
        int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
        if (!connect(fd, (struct sockaddr *)&to, sizeof(to))) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            return fd;
        }
        close(fd);
        usleep(10000);
    }
    need(0, "call");
    return -1;
}

static int call_node(int node)
{
    struct in_addr address = { htonl(0x0a4d0000u + (unsigned)node) };
    return call(address);
}

/* One side of sending: gets all there is, and says that it has it. */
static void get(int in)
{
    static char part[PART];
    long n;
    while ((n = recv(in, part, sizeof(part), 0)) > 0)
        ;
    need(n == 0 && send(in, part, 1, MSG_NOSIGNAL) == 1, "recv");
}

static void put(const char *text, long bytes)
{
    static char part[PART];
    struct in_addr address;
    need(inet_pton(AF_INET, text, &address) == 1, text);
    int out = call(address);
    for (long left = bytes; left > 0;) {
        long n = send(out, part, (size_t)(left < PART ? left : PART), MSG_NOSIGNAL);
        need(n > 0, "send");
        left -= n;
    }
    shutdown(out, SHUT_WR);
    need(recv(out, part, 1, 0) == 1, "the end");
}

/* Sends and gets as many bytes, at the same time. */
static void stream(int out, int in, long bytes)
{
    static char part[PART];
    long sent = 0, got = 0;
    while (sent < bytes || got < bytes) {
        struct pollfd fds[] = { { sent < bytes ? out : -1, POLLOUT, 0 },
                                { got < bytes ? in : -1, POLLIN, 0 } };
        need(poll(fds, 2, 30000) > 0, "poll");
        if (fds[0].revents) {
            long left = bytes - sent < PART ? bytes - sent : PART;
            long n = send(out, part, (size_t)left, MSG_DONTWAIT | MSG_NOSIGNAL);
            need(n > 0 || errno == EAGAIN, "send");
            sent += n > 0 ? n : 0;
        }
        if (fds[1].revents) {
            long n = recv(in, part, sizeof(part), MSG_DONTWAIT);
            need(n > 0 || errno == EAGAIN, "recv");
            got += n > 0 ? n : 0;
        }
    }
    /* What is sent has left this node only when the other one has it. */
    need(send(in, part, 1, MSG_NOSIGNAL) == 1 && recv(out, part, 1, 0) == 1, "the end");
}

static void pingpong(int fd, int first, long count)
{
    char byte = 0;
    for (long i = 0; i < count; i++) {
        if (first)
            need(send(fd, &byte, 1, MSG_NOSIGNAL) == 1, "send");
        need(recv(fd, &byte, 1, 0) == 1, "recv");
        if (!first)
            need(send(fd, &byte, 1, MSG_NOSIGNAL) == 1, "send");
    }
}

int main(int argc, char **argv)
{
    int node = number("SLURM_NODEID"), nodes = number("SLURM_STEP_NUM_NODES");
    need(argc == 3 || (argc > 3 && argc % 2 == 0), "usage");
    long count = atol(argv[2]);
    if (number("SLURM_LOCALID") > 0)
        return 0;
    if (!strcmp(argv[1], "quiet")) {
        usleep((unsigned)count * 1000);
    } else if (!strcmp(argv[1], "to")) {
        int listener = node ? listen_here() : -1;
        for (int i = 2; i < argc; i += 2)
            if (node)
                get(accept(listener, NULL, NULL));
            else
                put(argv[i], atol(argv[i + 1]));
    } else {
        int listener = listen_here(), pings = !strcmp(argv[1], "pingpong");
        int first = node % 2 == 0, next = pings ? node + 2 : (node + 1) % nodes + 1;
        int out = !pings || first ? call_node(next) : -1;
        int in = !pings || !first ? accept(listener, NULL, NULL) : -1;
        if (in >= 0) {
            int on = 1;
            setsockopt(in, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        }
        if (pings)
            pingpong(first ? out : in, first, count);
        else
            stream(out, in, count);
    }
    puts("done");
    return 0;
}
