/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/collective.h"

#include <stdlib.h>

#include "mpi/trace/comm.h"
#include "mpi/trace/table.h"

/* The load of a collective on the network depends on the algorithm that the MPI library chooses.
 * The data that each rank must receive do not. This is the model, where n is the bytes of one
 * rank's part and p the number of ranks:
 *
 *   Bcast, Reduce, Scan      a chain in the order of ranks, from or to the root: n to the next
 *   Allreduce                a ring: 2 (p-1) messages of n/p to the next
 *   Allgather                a ring: all parts but the next rank's own, to the next
 *   Reduce_scatter           a ring: all parts but the rank's own, to the next
 *   Gather, Scatter          each part between its rank and the root
 *   Alltoall                 each part to its rank
 *   Neighbor_*               each part to its neighbour
 *   Barrier                  nothing
 *
 * Chains and rings are counted apart (TRACE_RING): which rank sends to which is the library's
 * choice there, and what must cross between nodes is the same wherever the ranks are. In the others
 * the program has chosen both ends of each part.
 *
 * So each rank receives only what it must, and blocks of neighbouring ranks exchange what a
 * hierarchical algorithm would send between nodes. Collectives on intercommunicators are not
 * counted. */

/* Returns the ranks of the communicator, or NULL if there is nothing to count. */
static const struct trace_ranks *members(MPI_Comm comm)
{
    const struct trace_ranks *ranks = trace_comm(comm);
    return ranks && !ranks->inter && ranks->size > 1 && ranks->me >= 0 ? ranks : NULL;
}

static void send_next(const struct trace_ranks *r, uint64_t bytes, uint64_t msgs)
{
    if (msgs)
        trace_add(TRACE_RING, r->world[(r->me + 1) % r->size], bytes, msgs);
}

void trace_bcast(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r && (r->me + 1) % r->size != root)
        send_next(r, trace_bytes(count, type), 1);
}

void trace_reduce(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r && r->me != root)
        trace_add(TRACE_RING, r->world[(r->me + r->size - 1) % r->size], trace_bytes(count, type),
                  1);
}

void trace_allreduce(MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r)
        send_next(r, trace_bytes(count, type) / (uint64_t)r->size, 2 * ((uint64_t)r->size - 1));
}

void trace_scan(MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r && r->me + 1 < r->size)
        send_next(r, trace_bytes(count, type), 1);
}

void trace_gather(bool in_place, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r && r->me != root && !in_place)
        trace_add(TRACE_TO, trace_world_rank(r, root), trace_bytes(count, type), 1);
}

void trace_scatter(struct trace_counts counts, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (!r || r->me != root)
        return;
    for (int i = 0; i < r->size; i++)
        if (i != root)
            trace_add(TRACE_TO, r->world[i], trace_bytes(trace_part(&counts, i), type), 1);
}

/* Counts the parts of all ranks except `one`, as messages of their mean size. */
static void send_others(const struct trace_ranks *r, const struct trace_counts *counts, int one,
                        MPI_Datatype type)
{
    uint64_t sum = 0, others = (uint64_t)r->size - 1;
    if (!counts->each && !counts->each_large) {
        send_next(r, trace_bytes(counts->all, type), others);
        return;
    }
    for (int i = 0; i < r->size; i++)
        sum += i == one ? 0 : trace_bytes(trace_part(counts, i), type);
    /* The last message has the remainder of the division, so that the sum of bytes is exact. */
    send_next(r, sum / others, others - 1);
    send_next(r, sum / others + sum % others, 1);
}

void trace_allgather(struct trace_counts recv_counts, MPI_Datatype type, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r)
        send_others(r, &recv_counts, (r->me + 1) % r->size, type);
}

void trace_reduce_scatter(struct trace_counts counts, MPI_Datatype type, MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    if (r)
        send_others(r, &counts, r->me, type);
}

void trace_alltoall(struct trace_counts counts, MPI_Datatype type, const MPI_Datatype *types,
                    MPI_Comm comm)
{
    const struct trace_ranks *r = members(comm);
    for (int i = 0; r && i < r->size; i++) {
        uint64_t bytes = trace_bytes(trace_part(&counts, i), types ? types[i] : type);
        if (i != r->me && bytes)
            trace_add(TRACE_TO, r->world[i], bytes, 1);
    }
}

/* --- neighbours ------------------------------------------------------------------------------- */

/* Returns the ranks to which this rank sends, in the order of a collective's parts, or NULL if
 * there are none. The caller frees them. */
static int *list_cart(MPI_Comm comm, int *count)
{
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    int *ranks = malloc(((size_t)dimensions * 2 + 1) * sizeof(*ranks));
    *count = ranks ? 2 * dimensions : 0;
    for (int i = 0; i < *count; i += 2)
        PMPI_Cart_shift(comm, i / 2, 1, &ranks[i], &ranks[i + 1]);
    return ranks;
}

static int *list_graph(MPI_Comm comm, int *count)
{
    int me;
    PMPI_Comm_rank(comm, &me);
    PMPI_Graph_neighbors_count(comm, me, count);
    int *ranks = malloc(((size_t)*count + 1) * sizeof(*ranks));
    if (ranks)
        PMPI_Graph_neighbors(comm, me, *count, ranks);
    return ranks;
}

static int *list_dist_graph(MPI_Comm comm, int *count)
{
    int in = 0, weighted;
    PMPI_Dist_graph_neighbors_count(comm, &in, count, &weighted);
    int *ranks = malloc(((size_t)in + (size_t)*count + 1) * sizeof(*ranks));
    int *weights = malloc(((size_t)in + (size_t)*count + 1) * sizeof(*weights));
    if (ranks && weights) {
        PMPI_Dist_graph_neighbors(comm, in, ranks + *count, weights + *count, *count, ranks,
                                  weights);
    } else {
        *count = 0;
        trace_lose();
    }
    free(weights);
    return ranks;
}

static int *list_neighbours(MPI_Comm comm, int *count)
{
    int kind = MPI_UNDEFINED;
    *count = 0;
    PMPI_Topo_test(comm, &kind);
    return kind == MPI_CART         ? list_cart(comm, count)
           : kind == MPI_GRAPH      ? list_graph(comm, count)
           : kind == MPI_DIST_GRAPH ? list_dist_graph(comm, count)
                                    : NULL;
}

void trace_neighbours(struct trace_counts counts, MPI_Datatype type, const MPI_Datatype *types,
                      MPI_Comm comm)
{
    const struct trace_ranks *r = trace_comm(comm);
    int neighbours, *ranks = list_neighbours(comm, &neighbours);
    if (!ranks)
        trace_lose();
    for (int i = 0; ranks && i < neighbours; i++) {
        uint64_t bytes = trace_bytes(trace_part(&counts, i), types ? types[i] : type);
        if (bytes)
            trace_add(TRACE_TO, trace_world_rank(r, ranks[i]), bytes, 1);
    }
    free(ranks);
}
