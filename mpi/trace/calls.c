/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/counted.h"
#include "mpi/trace/trace.h"

/* The C entry points that take numbers of elements. Each calls the next one, then counts.
 * The file mpi/trace/calls_large.c includes this one again, to make the functions with large
 * numbers. */
#ifndef COUNT
#define NAME(name) MPI_##name
#define NEXT_NAME(name) NEXT(name)
#define COUNT int
#define PLACE int
#define EACH(counts) ((struct trace_counts){ .each = counts })
#endif
#define ALL(count) ((struct trace_counts){ .all = count })

/* --- point to point -------------------------------------------------------------------------- */

/* clang-format off */
#define SEND(name) \
    int NAME(name)(const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, \
                   MPI_Comm comm) \
    { \
        COUNTED(NEXT_NAME(name)(buffer, count, type, dest, tag, comm), \
                trace_send(dest, count, type, comm)) \
    }
/* clang-format on */
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)

/* clang-format off */
#define SEND_REQUEST(name, how) \
    int NAME(name)(const void *buffer, COUNT count, MPI_Datatype type, int dest, int tag, \
                   MPI_Comm comm, MPI_Request *request) \
    { \
        how(NEXT_NAME(name)(buffer, count, type, dest, tag, comm, request), \
            trace_send(dest, count, type, comm)) \
    }
/* clang-format on */
SEND_REQUEST(Isend, COUNTED)
SEND_REQUEST(Ibsend, COUNTED)
SEND_REQUEST(Issend, COUNTED)
SEND_REQUEST(Irsend, COUNTED)
SEND_REQUEST(Send_init, PREPARED)
SEND_REQUEST(Bsend_init, PREPARED)
SEND_REQUEST(Ssend_init, PREPARED)
SEND_REQUEST(Rsend_init, PREPARED)

int NAME(Sendrecv)(const void *out, COUNT count, MPI_Datatype type, int dest, int tag, void *in,
                   COUNT in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                   MPI_Status *status)
{
    COUNTED(NEXT_NAME(Sendrecv)(out, count, type, dest, tag, in, in_count, in_type, source, in_tag,
                                comm, status),
            trace_send(dest, count, type, comm))
}

int NAME(Sendrecv_replace)(void *buffer, COUNT count, MPI_Datatype type, int dest, int tag,
                           int source, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    COUNTED(
        NEXT_NAME(Sendrecv_replace)(buffer, count, type, dest, tag, source, in_tag, comm, status),
        trace_send(dest, count, type, comm))
}

#if TRACE_MPI_4
int NAME(Isendrecv)(const void *out, COUNT count, MPI_Datatype type, int dest, int tag, void *in,
                    COUNT in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                    MPI_Request *request)
{
    COUNTED(NEXT_NAME(Isendrecv)(out, count, type, dest, tag, in, in_count, in_type, source, in_tag,
                                 comm, request),
            trace_send(dest, count, type, comm))
}

int NAME(Isendrecv_replace)(void *buffer, COUNT count, MPI_Datatype type, int dest, int tag,
                            int source, int in_tag, MPI_Comm comm, MPI_Request *request)
{
    COUNTED(
        NEXT_NAME(Isendrecv_replace)(buffer, count, type, dest, tag, source, in_tag, comm, request),
        trace_send(dest, count, type, comm))
}
#endif

/* --- collectives, each also non-blocking and, where the library has that, persistent --------- */

/* LIST(...) makes one macro argument of a list that has commas. */
#define LIST(...) __VA_ARGS__
/* clang-format off */
#define BLOCKING(name, iname, parameters, arguments, event) \
    int NAME(name)(parameters) { COUNTED(NEXT_NAME(name)(arguments), event) } \
    int NAME(iname)(parameters, MPI_Request *request) \
    { \
        COUNTED(NEXT_NAME(iname)(arguments, request), event) \
    }
/* clang-format on */
#if TRACE_MPI_4
/* clang-format off */
#define COLLECTIVE(name, iname, parameters, arguments, event) \
    BLOCKING(name, iname, LIST(parameters), LIST(arguments), event) \
    int NAME(name##_init)(parameters, MPI_Info info, MPI_Request *request) \
    { \
        PREPARED(NEXT_NAME(name##_init)(arguments, info, request), event) \
    }
/* clang-format on */
#else
#define COLLECTIVE BLOCKING
#endif

COLLECTIVE(Bcast, Ibcast,
           LIST(void *buffer, COUNT count, MPI_Datatype type, int root, MPI_Comm comm),
           LIST(buffer, count, type, root, comm), trace_bcast(count, type, root, comm))
COLLECTIVE(Reduce, Ireduce,
           LIST(const void *out, void *in, COUNT count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm),
           LIST(out, in, count, type, op, root, comm), trace_reduce(count, type, root, comm))

#define FOLD_PARAMETERS \
    LIST(const void *out, void *in, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
#define FOLD_ARGUMENTS LIST(out, in, count, type, op, comm)
COLLECTIVE(Allreduce, Iallreduce, FOLD_PARAMETERS, FOLD_ARGUMENTS,
           trace_allreduce(count, type, comm))
COLLECTIVE(Scan, Iscan, FOLD_PARAMETERS, FOLD_ARGUMENTS, trace_scan(count, type, comm))
COLLECTIVE(Exscan, Iexscan, FOLD_PARAMETERS, FOLD_ARGUMENTS, trace_scan(count, type, comm))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, FOLD_PARAMETERS, FOLD_ARGUMENTS,
           trace_reduce_scatter(ALL(count), type, comm))
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           LIST(const void *out, void *in, const COUNT counts[], MPI_Datatype type, MPI_Op op,
                MPI_Comm comm),
           LIST(out, in, counts, type, op, comm), trace_reduce_scatter(EACH(counts), type, comm))

COLLECTIVE(Gather, Igather,
           LIST(const void *out, COUNT count, MPI_Datatype type, void *in, COUNT in_count,
                MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, count, type, in, in_count, in_type, root, comm),
           trace_gather(out == MPI_IN_PLACE, count, type, root, comm))
COLLECTIVE(Gatherv, Igatherv,
           LIST(const void *out, COUNT count, MPI_Datatype type, void *in, const COUNT in_counts[],
                const PLACE places[], MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, count, type, in, in_counts, places, in_type, root, comm),
           trace_gather(out == MPI_IN_PLACE, count, type, root, comm))
COLLECTIVE(Scatter, Iscatter,
           LIST(const void *out, COUNT count, MPI_Datatype type, void *in, COUNT in_count,
                MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, count, type, in, in_count, in_type, root, comm),
           trace_scatter(ALL(count), type, root, comm))
COLLECTIVE(Scatterv, Iscatterv,
           LIST(const void *out, const COUNT counts[], const PLACE places[], MPI_Datatype type,
                void *in, COUNT in_count, MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, counts, places, type, in, in_count, in_type, root, comm),
           trace_scatter(EACH(counts), type, root, comm))

#define SAME_PARAMETERS \
    LIST(const void *out, COUNT count, MPI_Datatype type, void *in, COUNT in_count, \
         MPI_Datatype in_type, MPI_Comm comm)
#define SAME_ARGUMENTS LIST(out, count, type, in, in_count, in_type, comm)
COLLECTIVE(Allgather, Iallgather, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_allgather(ALL(in_count), in_type, comm))
COLLECTIVE(Alltoall, Ialltoall, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_alltoall(ALL(out == MPI_IN_PLACE ? in_count : count),
                          out == MPI_IN_PLACE ? in_type : type, NULL, comm))
COLLECTIVE(Allgatherv, Iallgatherv,
           LIST(const void *out, COUNT count, MPI_Datatype type, void *in, const COUNT in_counts[],
                const PLACE places[], MPI_Datatype in_type, MPI_Comm comm),
           LIST(out, count, type, in, in_counts, places, in_type, comm),
           trace_allgather(EACH(in_counts), in_type, comm))
COLLECTIVE(Alltoallv, Ialltoallv,
           LIST(const void *out, const COUNT counts[], const PLACE places[], MPI_Datatype type,
                void *in, const COUNT in_counts[], const PLACE in_places[], MPI_Datatype in_type,
                MPI_Comm comm),
           LIST(out, counts, places, type, in, in_counts, in_places, in_type, comm),
           trace_alltoall(EACH(out == MPI_IN_PLACE ? in_counts : counts),
                          out == MPI_IN_PLACE ? in_type : type, NULL, comm))
COLLECTIVE(Alltoallw, Ialltoallw,
           LIST(const void *out, const COUNT counts[], const PLACE places[],
                const MPI_Datatype types[], void *in, const COUNT in_counts[],
                const PLACE in_places[], const MPI_Datatype in_types[], MPI_Comm comm),
           LIST(out, counts, places, types, in, in_counts, in_places, in_types, comm),
           trace_alltoall(EACH(out == MPI_IN_PLACE ? in_counts : counts), MPI_BYTE,
                          out == MPI_IN_PLACE ? in_types : types, comm))

/* --- collectives with the neighbours of a topology ------------------------------------------- */

COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_neighbours(ALL(count), type, NULL, comm))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_neighbours(ALL(count), type, NULL, comm))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv,
           LIST(const void *out, COUNT count, MPI_Datatype type, void *in, const COUNT in_counts[],
                const PLACE places[], MPI_Datatype in_type, MPI_Comm comm),
           LIST(out, count, type, in, in_counts, places, in_type, comm),
           trace_neighbours(ALL(count), type, NULL, comm))
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv,
           LIST(const void *out, const COUNT counts[], const PLACE places[], MPI_Datatype type,
                void *in, const COUNT in_counts[], const PLACE in_places[], MPI_Datatype in_type,
                MPI_Comm comm),
           LIST(out, counts, places, type, in, in_counts, in_places, in_type, comm),
           trace_neighbours(EACH(counts), type, NULL, comm))
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
           LIST(const void *out, const COUNT counts[], const MPI_Aint places[],
                const MPI_Datatype types[], void *in, const COUNT in_counts[],
                const MPI_Aint in_places[], const MPI_Datatype in_types[], MPI_Comm comm),
           LIST(out, counts, places, types, in, in_counts, in_places, in_types, comm),
           trace_neighbours(EACH(counts), MPI_BYTE, types, comm))

/* --- one-sided ------------------------------------------------------------------------------- */

/* clang-format off */
#define ONE_SIDED(name, rname, constness, direction) \
    int NAME(name)(constness void *ours, COUNT count, MPI_Datatype type, int rank, MPI_Aint place, \
                   COUNT their_count, MPI_Datatype their_type, MPI_Win window) \
    { \
        COUNTED(NEXT_NAME(name)(ours, count, type, rank, place, their_count, their_type, window), \
                trace_one_sided(direction, rank, count, type, window)) \
    } \
    int NAME(rname)(constness void *ours, COUNT count, MPI_Datatype type, int rank, \
                    MPI_Aint place, COUNT their_count, MPI_Datatype their_type, MPI_Win window, \
                    MPI_Request *request) \
    { \
        COUNTED(NEXT_NAME(rname)(ours, count, type, rank, place, their_count, their_type, window, \
                             request), \
                trace_one_sided(direction, rank, count, type, window)) \
    }
/* clang-format on */
ONE_SIDED(Put, Rput, const, TRACE_TO)
ONE_SIDED(Get, Rget, , TRACE_FROM)

int NAME(Accumulate)(const void *ours, COUNT count, MPI_Datatype type, int rank, MPI_Aint place,
                     COUNT their_count, MPI_Datatype their_type, MPI_Op op, MPI_Win window)
{
    COUNTED(
        NEXT_NAME(Accumulate)(ours, count, type, rank, place, their_count, their_type, op, window),
        trace_one_sided(TRACE_TO, rank, count, type, window))
}

int NAME(Raccumulate)(const void *ours, COUNT count, MPI_Datatype type, int rank, MPI_Aint place,
                      COUNT their_count, MPI_Datatype their_type, MPI_Op op, MPI_Win window,
                      MPI_Request *request)
{
    COUNTED(NEXT_NAME(Raccumulate)(ours, count, type, rank, place, their_count, their_type, op,
                                   window, request),
            trace_one_sided(TRACE_TO, rank, count, type, window))
}

int NAME(Get_accumulate)(const void *ours, COUNT count, MPI_Datatype type, void *result,
                         COUNT result_count, MPI_Datatype result_type, int rank, MPI_Aint place,
                         COUNT their_count, MPI_Datatype their_type, MPI_Op op, MPI_Win window)
{
    COUNTED(NEXT_NAME(Get_accumulate)(ours, count, type, result, result_count, result_type, rank,
                                      place, their_count, their_type, op, window),
            trace_exchange(op, rank, count, type, result_count, result_type, window))
}

int NAME(Rget_accumulate)(const void *ours, COUNT count, MPI_Datatype type, void *result,
                          COUNT result_count, MPI_Datatype result_type, int rank, MPI_Aint place,
                          COUNT their_count, MPI_Datatype their_type, MPI_Op op, MPI_Win window,
                          MPI_Request *request)
{
    COUNTED(NEXT_NAME(Rget_accumulate)(ours, count, type, result, result_count, result_type, rank,
                                       place, their_count, their_type, op, window, request),
            trace_exchange(op, rank, count, type, result_count, result_type, window))
}
