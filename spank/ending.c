/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/ending.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Slurm says nothing to plugins of a signal or of scancel. What can be seen of it: slurmd asks for
 * it through a connection to the step's own socket, NODE_JOB.STEP in SlurmdSpoolDir, and slurmstepd
 * keeps that connection until the tasks run (_wait_for_job_running of src/slurmd/slurmstepd/req.c,
 * the same in 22.05 to 26.05). Other requests are answered at once. Where Slurm names its sockets
 * otherwise nothing is seen, and the wait has its end all the same. */

/* Looks, at the rate at which a waiting node looks, that a request is seen by before it counts as
 * one that waits; and descriptors among which it is: slurmstepd has few. */
#define LOOKS 3
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
    __atomic_store_n(&e->begun, true, __ATOMIC_RELEASE);
}

/* The accepted end of a connection has the name of the socket that listens. A component of a
 * heterogeneous step puts its number behind the step's. */
static bool is_ours(const struct ending *e, int fd)
{
    struct sockaddr_un address;
    char name[sizeof(address.sun_path) + 1] = "";
    socklen_t size = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &size) < 0 || address.sun_family != AF_UNIX ||
        size <= offsetof(struct sockaddr_un, sun_path) || size > sizeof(address))
        return false;
    memcpy(name, address.sun_path, size - offsetof(struct sockaddr_un, sun_path));
    const char *end = strrchr(name, '_');
    size_t length = strlen(e->socket);
    return end && !strncmp(end, e->socket, length) && (!end[length] || end[length] == '.');
}

/* Slurm lets everybody connect, and waits for what they say: only slurmd has the say here. */
static bool is_slurmd(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
           (peer.uid == 0 || peer.uid == getuid());
}

/* Of the socket, if it is a connection with slurmd, which waits for an answer; else 0. */
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

/* The one that was seen before, if it is still there; else any; 0: none. */
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
    if (__atomic_load_n(&e->begun, __ATOMIC_ACQUIRE))
        return true;
    ino_t seen = *e->socket ? look(e) : 0;
    e->looks = !seen ? 0 : seen == e->request ? e->looks + 1 : 1;
    e->request = seen;
    return e->looks >= LOOKS;
}
