/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/point.h"

#include <pthread.h>
#include <stdlib.h>

#include "mpi/trace/comm.h"
#include "mpi/trace/counts.h"

void trace_send(int dest, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    if (dest >= 0)
        trace_add(TRACE_TO, trace_world_rank(trace_comm(comm), dest), trace_bytes(count, type), 1);
}

void trace_one_sided(enum trace_direction direction, int rank, MPI_Count count, MPI_Datatype type,
                     MPI_Win window)
{
    uint64_t bytes = rank < 0 ? 0 : trace_bytes(count, type);
    if (bytes)
        trace_add(direction, trace_world_rank(trace_window(window), rank), bytes, 1);
}

/* With MPI_NO_OP no data are sent. */
void trace_exchange(MPI_Op op, int rank, MPI_Count count, MPI_Datatype type, MPI_Count back,
                    MPI_Datatype back_type, MPI_Win window)
{
    if (op != MPI_NO_OP)
        trace_one_sided(TRACE_TO, rank, count, type, window);
    trace_one_sided(TRACE_FROM, rank, back, back_type, window);
}

/* --- persistent requests: counted at each start ---------------------------------------------- */

#define BUCKETS 1024

struct persistent {
    struct persistent *next;
    MPI_Request request;
    struct trace_notes notes;
};

static struct persistent *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the list for this request, which is an int or an aligned pointer. */
static struct persistent **bucket_of(MPI_Request request)
{
    uint64_t bits = (uint64_t)request;
    return &buckets[(bits * 0x9e3779b97f4a7c15u) >> 54];
}

static struct persistent **find(MPI_Request request)
{
    struct persistent **place = bucket_of(request);
    while (*place && (*place)->request != request)
        place = &(*place)->next;
    return place;
}

static void insert(struct persistent *p)
{
    struct persistent **place = bucket_of(p->request);
    p->next = *place;
    *place = p;
}

static _Thread_local struct trace_notes prepared;

void trace_prepare(void)
{
    trace_note(&prepared);
}

void trace_prepared(MPI_Request request)
{
    struct persistent *p = prepared.count ? malloc(sizeof(*p)) : NULL;
    trace_note(NULL);
    if (!p) {
        if (prepared.count)
            trace_lose();
        trace_forget_notes(&prepared);
        return;
    }
    *p = (struct persistent){ .request = request, .notes = prepared };
    prepared = (struct trace_notes){ 0 };
    pthread_mutex_lock(&lock);
    insert(p);
    pthread_mutex_unlock(&lock);
}

/* Open MPI may replace a request when it is started again. No other thread may use the request
 * meanwhile, so the lock is for the list only. */
void trace_start(MPI_Request before, MPI_Request after)
{
    pthread_mutex_lock(&lock);
    struct persistent **place = find(before), *p = *place;
    if (p && before != after) {
        *place = p->next;
        p->request = after;
        insert(p);
    }
    pthread_mutex_unlock(&lock);
    if (p)
        trace_count_notes(&p->notes);
}

MPI_Request *trace_handles(int count)
{
    MPI_Request *list = malloc(count > 0 ? (size_t)count * sizeof(*list) : 1);
    if (!list)
        trace_lose();
    return list;
}

void trace_forget(MPI_Request request)
{
    pthread_mutex_lock(&lock);
    struct persistent **place = find(request), *p = *place;
    if (p)
        *place = p->next;
    pthread_mutex_unlock(&lock);
    if (p)
        trace_forget_notes(&p->notes);
    free(p);
}
