/* SPDX-License-Identifier: BSD-3-Clause */
// Linked into MPI programs for the virtual machines, whose processors take turns of 100 ms: a rank
// that polls would use up its turn. Open MPI's calls sched_yield while it polls (with
// mpi_yield_when_idle), MPICH's calls UCX; here both give the turn away. And MPICH 4.0 over several
// nodes may never leave MPI_Finalize: see test/cluster/progress.c.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <time.h>

int sched_yield(void)
{
    struct timespec pause = { .tv_nsec = 50000 };

    return nanosleep(&pause, NULL);
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);

    if (!progress) {
        void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        memcpy(&progress, &found, sizeof found);
    }
    unsigned done = progress(worker);
    if (!done)
        sched_yield();
    return done;
}

/* With DISCONNECTS connections are ended as UCX does it, as rails.t has them over RDMA. */
#ifndef DISCONNECTS
void *ucp_disconnect_nb(void *connection)
{
    (void)connection;
    return NULL;
}
#endif
