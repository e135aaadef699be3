/* SPDX-License-Identifier: BSD-3-Clause */

/* Preloaded under MPICH 4.0 with UCX, in tests only, so that ranks on several nodes of one small
 * machine come to an end, and soon:
 *
 * - MPI_Finalize closes each connection with ucp_disconnect_nb and waits, and ranks may wait for
 *   each other for ever, with any library or none (MPICH took a step out of this later:
 *   pmodels/mpich pull request 6596). Here connections are left to ucp_worker_destroy. All that a
 *   test sends has
 *   arrived when MPI_Finalize begins: a barrier is the last thing that it does.
 * - MPICH spins without yielding the processor: eight ranks on two take 15 times as long. */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

void *ucp_disconnect_nb(void *connection);
unsigned ucp_worker_progress(void *worker);

void *ucp_disconnect_nb(void *connection)
{
    (void)connection;
    return NULL;
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    unsigned events;
    if (!real) {
        void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
        memcpy(&real, &found, sizeof(found));
    }
    events = real(worker);
    if (!events)
        sched_yield();
    return events;
}
