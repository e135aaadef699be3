/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/timed_call.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* A call, shared by the thread that works and the thread that waits. */
struct call {
    void (*work)(void *data);
    void (*drop)(void *data);
    void *data;
    sem_t returned;          /* from work(), while the other thread waits */
    atomic_bool one_is_done; /* either with its work or with waiting; the other one frees it */
};

static void *run(void *arg)
{
    struct call *call = arg;
    call->work(call->data);
    if (atomic_exchange(&call->one_is_done, true)) {
        call->drop(call->data);
        free(call);
    } else {
        sem_post(&call->returned);
    }
    return NULL;
}

/* Starts the thread with all signals blocked: they are for the program's own threads. Returns 0 or
 * -errno. */
static int call_start(struct call *call)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = -pthread_create(&thread, NULL, run, call);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!rc)
        pthread_detach(thread);
    return rc;
}

static struct timespec after_ms(unsigned ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = now.tv_nsec + (int64_t)ms * 1000000;
    return (struct timespec){ now.tv_sec + ns / 1000000000, ns % 1000000000 };
}

/* Waits. Afterwards the call is freed, or belongs to its thread. Returns 0 or -ETIMEDOUT. */
static int call_await(struct call *call, const atomic_uint *progress, unsigned ms)
{
    unsigned before, now = progress ? *progress : 0;
    int rc;
    do {
        struct timespec until = after_ms(ms);
        before = now;
        do
            rc = sem_clockwait(&call->returned, CLOCK_MONOTONIC, &until);
        while (rc && errno == EINTR);
        now = progress ? *progress : 0;
    } while (rc && now != before);
    if (rc && !atomic_exchange(&call->one_is_done, true))
        return -ETIMEDOUT;
    while (rc) /* it has returned in this moment */
        rc = sem_wait(&call->returned);
    free(call);
    return 0;
}

int timed_call(void (*work)(void *data), void (*drop)(void *data), void *data,
               const atomic_uint *progress, unsigned ms)
{
    struct call *call = malloc(sizeof(*call));
    int rc = -ENOMEM;
    if (call) {
        *call = (struct call){ .work = work, .drop = drop, .data = data };
        sem_init(&call->returned, 0, 0);
        rc = call_start(call);
    }
    if (!rc)
        return call_await(call, progress, ms);
    free(call);
    drop(data);
    return rc;
}
