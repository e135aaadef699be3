/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/listening.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

enum { STATE_LISTEN = 0x0a };

/* The sockets of a process and its descendants. */
struct sockets {
    unsigned long inodes[256];
    unsigned count;
};

static void add_sockets(pid_t pid, struct sockets *sockets)
{
    char path[64], target[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        unsigned long inode;
        ssize_t got = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
        target[got > 0 ? got : 0] = '\0';
        if (sockets->count < 256 && sscanf(target, "socket:[%lu]", &inode) == 1)
            sockets->inodes[sockets->count++] = inode;
    }
    if (directory)
        closedir(directory);
}

/* Opens the list of the children of a process; NULL if it is gone, or if this kernel has none. */
static FILE *open_children(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    return fopen(path, "re");
}

/* A benchmark may be started by a script, and that by another one. */
static void add_family(pid_t pid, unsigned depth, struct sockets *sockets)
{
    int child;
    add_sockets(pid, sockets);
    FILE *children = depth ? open_children(pid) : NULL;
    while (children && fscanf(children, "%d", &child) == 1)
        /* NOLINTNEXTLINE(misc-no-recursion): four levels at most. */
        add_family((pid_t)child, depth - 1, sockets);
    if (children)
        fclose(children);
}

static bool has(const struct sockets *sockets, unsigned long inode)
{
    for (unsigned i = 0; i < sockets->count; i++)
        if (sockets->inodes[i] == inode)
            return true;
    return false;
}

static bool listens_in(const char *path, const struct sockets *sockets, unsigned port)
{
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof(line), file)) {
        unsigned local, state;
        unsigned long inode;
        found = sscanf(line, "%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*u %*u %lu",
                       &local, &state, &inode) == 3 &&
                state == STATE_LISTEN && ((port && local == port) || has(sockets, inode));
    }
    if (file)
        fclose(file);
    return found;
}

bool probe_is_listening(pid_t pid, unsigned port)
{
    struct sockets sockets = { .count = 0 };
    add_family(pid, 4, &sockets);
    return listens_in("/proc/net/tcp", &sockets, port) ||
           listens_in("/proc/net/tcp6", &sockets, port);
}

unsigned probe_free_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool done = fd >= 0 && !bind(fd, (struct sockaddr *)&address, size) &&
                !getsockname(fd, (struct sockaddr *)&address, &size);
    if (fd >= 0)
        close(fd);
    return done ? ntohs(address.sin_port) : 0;
}

/* A killed process leaves its children to this one, so that one round may not be enough. */
void probe_kill_children(void)
{
    int64_t end_ms = nuioa_clock_ms() + 2000;
    struct timespec nap = { .tv_nsec = 1000000 };
    while (nuioa_clock_ms() < end_ms) {
        int child;
        pid_t got;
        FILE *children = open_children(getpid());
        while (children && fscanf(children, "%d", &child) == 1)
            kill((pid_t)child, SIGKILL);
        if (children)
            fclose(children);
        while ((got = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (got < 0 && errno == ECHILD)
            return;
        nanosleep(&nap, NULL);
    }
}
