/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/timed_call.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* A call, shared by the thread that works and the thread that waits. The one that is done last
 * frees it. */
struct call {
    void (*work)(void *data);
    void (*drop)(void *data);
    void *data;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool returned, left;
};

static void call_free(struct call *call)
{
    pthread_cond_destroy(&call->changed);
    pthread_mutex_destroy(&call->lock);
    free(call);
}

static struct call *call_new(void)
{
    pthread_condattr_t monotonic;
    struct call *call = calloc(1, sizeof(*call));
    if (!call)
        return NULL;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&call->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&call->lock, NULL);
    return call;
}

static void *run(void *arg)
{
    struct call *call = arg;
    call->work(call->data);
    pthread_mutex_lock(&call->lock);
    call->returned = true;
    bool last = call->left;
    pthread_cond_signal(&call->changed);
    pthread_mutex_unlock(&call->lock);
    if (last) {
        call->drop(call->data);
        call_free(call);
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

/* Waits. Afterwards the call is freed, or belongs to its thread. Returns 0 or -errno. */
static int call_await(struct call *call, const atomic_uint *progress, unsigned ms)
{
    unsigned before, now = progress ? *progress : 0;
    int rc;
    pthread_mutex_lock(&call->lock);
    do {
        struct timespec until = after_ms(ms);
        before = now;
        for (rc = 0; !call->returned && !rc;)
            rc = -pthread_cond_timedwait(&call->changed, &call->lock, &until);
        now = progress ? *progress : 0;
    } while (!call->returned && now != before);
    bool returned = call->returned;
    call->left = true;
    pthread_mutex_unlock(&call->lock);
    if (returned)
        call_free(call);
    return returned ? 0 : rc;
}

int timed_call(void (*work)(void *data), void (*drop)(void *data), void *data,
               const atomic_uint *progress, unsigned ms)
{
    struct call *call = call_new();
    int rc = -ENOMEM;
    if (call) {
        call->work = work;
        call->drop = drop;
        call->data = data;
        rc = call_start(call);
    }
    if (!rc)
        return call_await(call, progress, ms);
    if (call)
        call_free(call);
    drop(data);
    return rc;
}
