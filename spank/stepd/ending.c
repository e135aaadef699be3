/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/ending.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Slurm does not tell plugins about a signal or scancel, but its request can be seen: slurmd
 * connects to the step's socket, NODE_JOB.STEP in SlurmdSpoolDir, and slurmstepd keeps the
 * connection open until the tasks run (_wait_for_job_running in src/slurmd/slurmstepd/req.c, the
 * same in 22.05 to 26.05). It answers other requests at once. If a release names its sockets
 * differently, nothing is seen, and the hook waits until its timeout. */

/* A connection that is seen so often in a row is one that slurmstepd keeps open. */
#define LOOKS 3

/* Connections are looked for among so many descriptors; slurmstepd has few. */
#define DESCRIPTORS 1024

void ending_watch(struct ending *e, spank_t spank)
{
    uint32_t job, step;
    if (spank_get_item(spank, S_JOB_ID, &job) == ESPANK_SUCCESS &&
        spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS)
        snprintf(e->socket, sizeof(e->socket), "_%u.%u", job, step);
}

void ending_mark_over(struct ending *e)
{
    __atomic_store_n(&e->over, true, __ATOMIC_RELEASE);
}

/* Returns true if a descriptor is the step's socket or a connection that it accepted: both have the
 * same name. A component of a heterogeneous step has its number behind the step's. */
static bool is_ours(const struct ending *e, int fd)
{
    struct sockaddr_un address;
    char name[sizeof(address.sun_path) + 1] = "";
    socklen_t size = sizeof(address);
    /* The call of getsockname has filled it.
     * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    if (getsockname(fd, (struct sockaddr *)&address, &size) < 0 || address.sun_family != AF_UNIX ||
        size <= offsetof(struct sockaddr_un, sun_path) || size > sizeof(address))
        return false;
    memcpy(name, address.sun_path, size - offsetof(struct sockaddr_un, sun_path));
    const char *end = strrchr(name, '_');
    size_t length = strlen(e->socket);
    return end && !strncmp(end, e->socket, length) && (!end[length] || end[length] == '.');
}

/* Any user may connect to the socket, so only connections of slurmd's user count. */
static bool is_slurmd(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
           (peer.uid == 0 || peer.uid == getuid());
}

/* The inode of a connection with slurmd to the step's socket; 0: `fd` is no such connection. */
static ino_t request_of(const struct ending *e, int fd)
{
    int listens = 1;
    socklen_t size = sizeof(listens);
    struct stat info;
    if (!is_ours(e, fd) || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 ||
        listens || !is_slurmd(fd) || fstat(fd, &info) < 0)
        return 0;
    return info.st_ino;
}

/* The connection that was seen before, if it is still open; otherwise any other; 0: there is
 * none. */
static ino_t look(const struct ending *e)
{
    ino_t found = 0, request;
    for (int fd = 0; fd < DESCRIPTORS; fd++)
        if ((request = request_of(e, fd)) && (!found || request == e->request))
            found = request;
    return found;
}

bool ending_is_requested(void *arg)
{
    struct ending *e = arg;
    if (__atomic_load_n(&e->over, __ATOMIC_ACQUIRE))
        return true;
    ino_t seen = *e->socket ? look(e) : 0;
    e->looks = !seen ? 0 : seen == e->request ? e->looks + 1 : 1;
    e->request = seen;
    return e->looks >= LOOKS;
}
