/* SPDX-License-Identifier: BSD-3-Clause */

/* The trace's counters under several threads, by their real code: nothing may be lost. */
#include <pthread.h>
#include <stdio.h>

#include "mpi/trace/trace.h"

enum { THREADS = 4, EACH = 200000, RANKS = 3000 };

static void *count(void *unused)
{
    for (int i = 0; i < EACH; i++) {
        trace_add(TRACE_TO, i % RANKS, 10, 1);
        trace_add(TRACE_FROM, 7, 40000, 1);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[THREADS];
    uint64_t bytes = 0;
    trace_table_open(RANKS, true);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < RANKS; i++)
        bytes += trace_counted(TRACE_TO, i)->bytes;
    printf("%llu %llu %llu\n", (unsigned long long)bytes,
           (unsigned long long)trace_counted(TRACE_FROM, 7)->msgs,
           (unsigned long long)trace_counted(TRACE_FROM, 7)->large_bytes);
    trace_table_close();
    return 0;
}
