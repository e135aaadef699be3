/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

/* Measures the time and memory of one srun's collector for many nodes, over loopback and with real
 * credentials. One process simulates all nodes, which call at the same time. Prints the seconds
 * from the first call until the report is printed, those of processor time in the collector, and
 * its largest size in MB. Fails unless each node is taken and srun prints a report of all. Usage:
 * scale SOCKET NODES */

/* Allows a file descriptor for each node. */
static void raise_limit(uint32_t count)
{
    struct rlimit limit = { count + 100, count + 100 };
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        perror("scale: setrlimit");
}

static void call(const struct srun *s, const char *credential, int epoll)
{
    int fd = peer_connect(s->port);
    if (fd < 0) {
        fprintf(stderr, "scale: connect: %s\n", strerror(-fd));
        exit(1);
    }
    peer_put(fd, credential, strlen(credential) + 1);
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){ .events = EPOLLIN, .data.fd = fd });
}

static uint32_t hear(int epoll, int wait_ms)
{
    struct epoll_event events[64];
    int ready = epoll_wait(epoll, events, 64, wait_ms);
    for (int i = 0; i < ready; i++)
        if (peer_end(events[i].data.fd) != WIRE_TAKEN) {
            fprintf(stderr, "scale: a node was refused\n");
            exit(1);
        }
    return ready > 0 ? (uint32_t)ready : 0;
}

int main(int argc, char **argv)
{
    struct srun s = { 0 };
    char **credentials, all[32];
    if (argc != 3)
        return 2;
    uint32_t count = (uint32_t)atoi(argv[2]), done = 0;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    raise_limit(count);
    srun_begin(&s, argv[1], count); /* before this process is large */
    credentials = calloc(count, sizeof(*credentials));
    for (uint32_t i = 0; i < count; i++) {
        struct content c = content_of(i, count);
        c.head.text_length = 0; /* as without `explain` */
        credentials[i] = seal_right(argv[1], &c, offsetof(struct content, text));
    }
    int64_t start = clock_ms();
    for (uint32_t called = 0; done < count;) {
        for (int burst = 0; burst < 64 && called < count; burst++)
            call(&s, credentials[called++], epoll);
        done += hear(epoll, called < count ? 0 : 1000);
    }
    bool ended = srun_wait(&s);
    int64_t printed = clock_ms();
    srun_end(&s);
    snprintf(all, sizeof(all), "%u nodes, ", count);
    if (!ended || s.result.rc || !strstr(s.text, all) || strstr(s.text, "say: report")) {
        fprintf(stderr, "scale: %s\n", s.text);
        return 1;
    }
    printf("%.3f %.3f %.1f\n", (double)(printed - start) / 1000, (double)s.result.cpu_ms / 1000,
           (double)s.result.rss_kb / 1024);
    return 0;
}
