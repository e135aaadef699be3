#include <pthread.h>
#include <stdlib.h>

#include "trace.h"

static uint64_t bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    return count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0;
}

void trace_send(int dest, int count, MPI_Datatype type, MPI_Comm comm)
{
    if (dest >= 0)
        trace_add(TRACE_TO, trace_world_rank(trace_comm(comm), dest), bytes_of(count, type), 1);
}

/* --- persistent requests: counted at each start ---------------------------------------------- */

#define BUCKETS 1024

struct persistent {
    struct persistent *next;
    MPI_Request request;
    int rank;
    uint64_t bytes;
};

static struct persistent *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The request is an int or a pointer to something aligned. */
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

void trace_persistent(MPI_Request request, int dest, int count, MPI_Datatype type, MPI_Comm comm)
{
    struct persistent *p = dest >= 0 ? malloc(sizeof(*p)) : NULL;
    if (!p)
        return;
    *p = (struct persistent){ .request = request, .bytes = bytes_of(count, type),
                              .rank = trace_world_rank(trace_comm(comm), dest) };
    pthread_mutex_lock(&lock);
    insert(p);
    pthread_mutex_unlock(&lock);
}

/* Open MPI may put another request in the place of one that it starts again. */
void trace_start(MPI_Request before, MPI_Request after)
{
    int rank = MPI_PROC_NULL;
    uint64_t bytes = 0;
    pthread_mutex_lock(&lock);
    struct persistent **place = find(before), *p = *place;
    if (p) {
        rank = p->rank;
        bytes = p->bytes;
        if (before != after) {
            *place = p->next;
            p->request = after;
            insert(p);
        }
    }
    pthread_mutex_unlock(&lock);
    trace_add(TRACE_TO, rank, bytes, 1);
}

void trace_forget(MPI_Request request)
{
    pthread_mutex_lock(&lock);
    struct persistent **place = find(request), *p = *place;
    if (p)
        *place = p->next;
    pthread_mutex_unlock(&lock);
    free(p);
}
