#include "trace.h"

/* What a collective costs the network is the library's choice of algorithm; what each rank must
 * receive is not. The model, n being the bytes of one rank's part, p the number of ranks:
 *
 *   Bcast, Reduce, Scan      a chain in the order of ranks, from or to the root: n to the next
 *   Allreduce                a ring: 2 (p-1) messages of n/p to the next
 *   Allgather                a ring: all parts but the next rank's own, to the next
 *   Reduce_scatter           a ring: all parts but the rank's own, to the next
 *   Gather, Scatter          each part between its rank and the root
 *   Alltoall                 each part to its rank
 *   Barrier                  nothing
 *
 * So each rank receives what it must and no more, and blocks of neighbouring ranks exchange what a
 * hierarchical algorithm would send between nodes. Intercommunicators are left out. */

static uint64_t size_of(MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    return size > 0 ? (uint64_t)size : 0;
}

static uint64_t times(int count, MPI_Datatype type)
{
    return count > 0 ? (uint64_t)count * size_of(type) : 0;
}

/* NULL where there is nothing to count. */
static const struct trace_ranks *members(MPI_Comm comm)
{
    const struct trace_ranks *ranks = trace_comm(comm);
    return ranks && !ranks->inter && ranks->size > 1 && ranks->me >= 0 ? ranks : NULL;
}

static void send_next(const struct trace_ranks *r, uint64_t bytes, uint64_t msgs)
{
    if (msgs)
        trace_add(TRACE_TO, r->world[(r->me + 1) % r->size], bytes, msgs);
}

void trace_bcast(int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r && (r->me + 1) % r->size != root)
        send_next(r, times(count, type), 1);
}

void trace_reduce(int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r && r->me != root)
        trace_add(TRACE_TO, r->world[(r->me + r->size - 1) % r->size], times(count, type), 1);
}

void trace_allreduce(int count, MPI_Datatype type, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r)
        send_next(r, times(count, type) / (uint64_t)r->size, 2 * ((uint64_t)r->size - 1));
}

void trace_scan(int count, MPI_Datatype type, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r && r->me + 1 < r->size)
        send_next(r, times(count, type), 1);
}

void trace_gather(bool in_place, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r && r->me != root && !in_place)
        trace_add(TRACE_TO, trace_world_rank(r, root), times(count, type), 1);
}

void trace_scatter(int count, const int *counts, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (!r || r->me != root)
        return;
    for (int i = 0; i < r->size; i++)
        if (i != root)
            trace_add(TRACE_TO, r->world[i], times(counts ? counts[i] : count, type), 1);
}

/* The parts of all ranks but `one`, as messages of their mean size. */
static void send_others(const struct trace_ranks *r, int count, const int *counts, int one,
                        MPI_Datatype type)
{
    uint64_t sum = 0, others = (uint64_t)r->size - 1;
    if (!counts) {
        send_next(r, times(count, type), others);
        return;
    }
    for (int i = 0; i < r->size; i++)
        sum += i == one ? 0 : times(counts[i], type);
    /* The last one has what the division leaves, so that the bytes are exact. */
    send_next(r, sum / others, others - 1);
    send_next(r, sum / others + sum % others, 1);
}

void trace_allgather(int recv_count, const int *recv_counts, MPI_Datatype type, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r)
        send_others(r, recv_count, recv_counts, (r->me + 1) % r->size, type);
}

void trace_reduce_scatter(int count, const int *counts, MPI_Datatype type, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r)
        send_others(r, count, counts, r->me, type);
}

void trace_alltoall(int count, const int *counts, MPI_Datatype type, const MPI_Datatype *types,
                    MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    for (int i = 0; r && i < r->size; i++) {
        uint64_t bytes = times(counts ? counts[i] : count, types ? types[i] : type);
        if (i != r->me && bytes)
            trace_add(TRACE_TO, r->world[i], bytes, 1);
    }
}
