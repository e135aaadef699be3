#include "trace.h"

/* The C entry points: the library's call, then what it means for the trace. */

#define COUNTED(call, event) \
    int rc = call; \
    if (rc == MPI_SUCCESS) \
        event; \
    return rc;

/* --- start and end --------------------------------------------------------------------------- */

int MPI_Init(int *argc, char ***argv) { COUNTED(PMPI_Init(argc, argv), trace_begin()) }

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    COUNTED(PMPI_Init_thread(argc, argv, required, provided), trace_begin())
}

int MPI_Finalize(void)
{
    trace_end();
    return PMPI_Finalize();
}

int MPI_Abort(MPI_Comm comm, int code)
{
    trace_cut_short();
    return PMPI_Abort(comm, code);
}

/* --- point to point -------------------------------------------------------------------------- */

#define SEND(name) \
    int MPI_##name(const void *buffer, int count, MPI_Datatype type, int dest, int tag, \
                   MPI_Comm comm) \
    { \
        COUNTED(PMPI_##name(buffer, count, type, dest, tag, comm), \
                trace_send(dest, count, type, comm)) \
    }
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)

#define SEND_REQUEST(name, event) \
    int MPI_##name(const void *buffer, int count, MPI_Datatype type, int dest, int tag, \
                   MPI_Comm comm, MPI_Request *request) \
    { \
        COUNTED(PMPI_##name(buffer, count, type, dest, tag, comm, request), event) \
    }
SEND_REQUEST(Isend, trace_send(dest, count, type, comm))
SEND_REQUEST(Ibsend, trace_send(dest, count, type, comm))
SEND_REQUEST(Issend, trace_send(dest, count, type, comm))
SEND_REQUEST(Irsend, trace_send(dest, count, type, comm))
SEND_REQUEST(Send_init, trace_persistent(*request, dest, count, type, comm))
SEND_REQUEST(Bsend_init, trace_persistent(*request, dest, count, type, comm))
SEND_REQUEST(Ssend_init, trace_persistent(*request, dest, count, type, comm))
SEND_REQUEST(Rsend_init, trace_persistent(*request, dest, count, type, comm))

int MPI_Start(MPI_Request *request)
{
    MPI_Request before = *request;
    COUNTED(PMPI_Start(request), trace_start(before, *request))
}

/* One by one: afterwards the requests may be others, and which was which must be known. */
int MPI_Startall(int count, MPI_Request requests[])
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = MPI_Start(&requests[i]);
    return rc;
}

int MPI_Request_free(MPI_Request *request)
{
    MPI_Request before = *request;
    COUNTED(PMPI_Request_free(request), trace_forget(before))
}

int MPI_Sendrecv(const void *out, int count, MPI_Datatype type, int dest, int tag, void *in,
                 int in_count, MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm,
                 MPI_Status *status)
{
    COUNTED(PMPI_Sendrecv(out, count, type, dest, tag, in, in_count, in_type, source, in_tag, comm,
                          status),
            trace_send(dest, count, type, comm))
}

int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int dest, int tag, int source,
                         int in_tag, MPI_Comm comm, MPI_Status *status)
{
    COUNTED(PMPI_Sendrecv_replace(buffer, count, type, dest, tag, source, in_tag, comm, status),
            trace_send(dest, count, type, comm))
}

/* --- collectives, each with its non-blocking form -------------------------------------------- */

/* LIST(...) keeps the commas of a list in one argument. */
#define LIST(...) __VA_ARGS__
#define COLLECTIVE(name, iname, parameters, arguments, event) \
    int MPI_##name(parameters) { COUNTED(PMPI_##name(arguments), event) } \
    int MPI_##iname(parameters, MPI_Request *request) \
    { \
        COUNTED(PMPI_##iname(arguments, request), event) \
    }

COLLECTIVE(Bcast, Ibcast,
           LIST(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           LIST(buffer, count, type, root, comm), trace_bcast(count, type, root, comm))
COLLECTIVE(Reduce, Ireduce,
           LIST(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, int root,
                MPI_Comm comm),
           LIST(out, in, count, type, op, root, comm), trace_reduce(count, type, root, comm))

#define FOLD_PARAMETERS \
    LIST(const void *out, void *in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
#define FOLD_ARGUMENTS LIST(out, in, count, type, op, comm)
COLLECTIVE(Allreduce, Iallreduce, FOLD_PARAMETERS, FOLD_ARGUMENTS,
           trace_allreduce(count, type, comm))
COLLECTIVE(Scan, Iscan, FOLD_PARAMETERS, FOLD_ARGUMENTS, trace_scan(count, type, comm))
COLLECTIVE(Exscan, Iexscan, FOLD_PARAMETERS, FOLD_ARGUMENTS, trace_scan(count, type, comm))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, FOLD_PARAMETERS, FOLD_ARGUMENTS,
           trace_reduce_scatter(count, NULL, type, comm))
COLLECTIVE(Reduce_scatter, Ireduce_scatter,
           LIST(const void *out, void *in, const int counts[], MPI_Datatype type, MPI_Op op,
                MPI_Comm comm),
           LIST(out, in, counts, type, op, comm), trace_reduce_scatter(0, counts, type, comm))

COLLECTIVE(Gather, Igather,
           LIST(const void *out, int count, MPI_Datatype type, void *in, int in_count,
                MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, count, type, in, in_count, in_type, root, comm),
           trace_gather(out == MPI_IN_PLACE, count, type, root, comm))
COLLECTIVE(Gatherv, Igatherv,
           LIST(const void *out, int count, MPI_Datatype type, void *in, const int in_counts[],
                const int places[], MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, count, type, in, in_counts, places, in_type, root, comm),
           trace_gather(out == MPI_IN_PLACE, count, type, root, comm))
COLLECTIVE(Scatter, Iscatter,
           LIST(const void *out, int count, MPI_Datatype type, void *in, int in_count,
                MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, count, type, in, in_count, in_type, root, comm),
           trace_scatter(count, NULL, type, root, comm))
COLLECTIVE(Scatterv, Iscatterv,
           LIST(const void *out, const int counts[], const int places[], MPI_Datatype type,
                void *in, int in_count, MPI_Datatype in_type, int root, MPI_Comm comm),
           LIST(out, counts, places, type, in, in_count, in_type, root, comm),
           trace_scatter(0, counts, type, root, comm))

#define SAME_PARAMETERS \
    LIST(const void *out, int count, MPI_Datatype type, void *in, int in_count, \
         MPI_Datatype in_type, MPI_Comm comm)
#define SAME_ARGUMENTS LIST(out, count, type, in, in_count, in_type, comm)
COLLECTIVE(Allgather, Iallgather, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_allgather(in_count, NULL, in_type, comm))
COLLECTIVE(Alltoall, Ialltoall, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_alltoall(out == MPI_IN_PLACE ? in_count : count, NULL,
                          out == MPI_IN_PLACE ? in_type : type, NULL, comm))
COLLECTIVE(Allgatherv, Iallgatherv,
           LIST(const void *out, int count, MPI_Datatype type, void *in, const int in_counts[],
                const int places[], MPI_Datatype in_type, MPI_Comm comm),
           LIST(out, count, type, in, in_counts, places, in_type, comm),
           trace_allgather(0, in_counts, in_type, comm))
COLLECTIVE(Alltoallv, Ialltoallv,
           LIST(const void *out, const int counts[], const int places[], MPI_Datatype type,
                void *in, const int in_counts[], const int in_places[], MPI_Datatype in_type,
                MPI_Comm comm),
           LIST(out, counts, places, type, in, in_counts, in_places, in_type, comm),
           trace_alltoall(0, out == MPI_IN_PLACE ? in_counts : counts,
                          out == MPI_IN_PLACE ? in_type : type, NULL, comm))
COLLECTIVE(Alltoallw, Ialltoallw,
           LIST(const void *out, const int counts[], const int places[], const MPI_Datatype types[],
                void *in, const int in_counts[], const int in_places[],
                const MPI_Datatype in_types[], MPI_Comm comm),
           LIST(out, counts, places, types, in, in_counts, in_places, in_types, comm),
           trace_alltoall(0, out == MPI_IN_PLACE ? in_counts : counts, MPI_BYTE,
                          out == MPI_IN_PLACE ? in_types : types, comm))

/* --- collectives with the neighbours of a topology ------------------------------------------- */

COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_neighbours(count, NULL, type, NULL, comm))
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_neighbours(count, NULL, type, NULL, comm))
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv,
           LIST(const void *out, int count, MPI_Datatype type, void *in, const int in_counts[],
                const int places[], MPI_Datatype in_type, MPI_Comm comm),
           LIST(out, count, type, in, in_counts, places, in_type, comm),
           trace_neighbours(count, NULL, type, NULL, comm))
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv,
           LIST(const void *out, const int counts[], const int places[], MPI_Datatype type,
                void *in, const int in_counts[], const int in_places[], MPI_Datatype in_type,
                MPI_Comm comm),
           LIST(out, counts, places, type, in, in_counts, in_places, in_type, comm),
           trace_neighbours(0, counts, type, NULL, comm))
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
           LIST(const void *out, const int counts[], const MPI_Aint places[],
                const MPI_Datatype types[], void *in, const int in_counts[],
                const MPI_Aint in_places[], const MPI_Datatype in_types[], MPI_Comm comm),
           LIST(out, counts, places, types, in, in_counts, in_places, in_types, comm),
           trace_neighbours(0, counts, MPI_BYTE, types, comm))

/* --- one-sided ------------------------------------------------------------------------------- */

#define ONE_SIDED(name, rname, constness, direction) \
    int MPI_##name(constness void *ours, int count, MPI_Datatype type, int rank, MPI_Aint place, \
                   int their_count, MPI_Datatype their_type, MPI_Win window) \
    { \
        COUNTED(PMPI_##name(ours, count, type, rank, place, their_count, their_type, window), \
                trace_one_sided(direction, rank, count, type, window)) \
    } \
    int MPI_##rname(constness void *ours, int count, MPI_Datatype type, int rank, MPI_Aint place, \
                    int their_count, MPI_Datatype their_type, MPI_Win window, \
                    MPI_Request *request) \
    { \
        COUNTED(PMPI_##rname(ours, count, type, rank, place, their_count, their_type, window, \
                             request), \
                trace_one_sided(direction, rank, count, type, window)) \
    }
ONE_SIDED(Put, Rput, const, TRACE_TO)
ONE_SIDED(Get, Rget, , TRACE_FROM)

int MPI_Accumulate(const void *ours, int count, MPI_Datatype type, int rank, MPI_Aint place,
                   int their_count, MPI_Datatype their_type, MPI_Op op, MPI_Win window)
{
    COUNTED(PMPI_Accumulate(ours, count, type, rank, place, their_count, their_type, op, window),
            trace_one_sided(TRACE_TO, rank, count, type, window))
}

int MPI_Raccumulate(const void *ours, int count, MPI_Datatype type, int rank, MPI_Aint place,
                    int their_count, MPI_Datatype their_type, MPI_Op op, MPI_Win window,
                    MPI_Request *request)
{
    COUNTED(PMPI_Raccumulate(ours, count, type, rank, place, their_count, their_type, op, window,
                             request),
            trace_one_sided(TRACE_TO, rank, count, type, window))
}

int MPI_Get_accumulate(const void *ours, int count, MPI_Datatype type, void *result,
                       int result_count, MPI_Datatype result_type, int rank, MPI_Aint place,
                       int their_count, MPI_Datatype their_type, MPI_Op op, MPI_Win window)
{
    COUNTED(PMPI_Get_accumulate(ours, count, type, result, result_count, result_type, rank, place,
                                their_count, their_type, op, window),
            trace_exchange(op, rank, count, type, result_count, result_type, window))
}

int MPI_Rget_accumulate(const void *ours, int count, MPI_Datatype type, void *result,
                        int result_count, MPI_Datatype result_type, int rank, MPI_Aint place,
                        int their_count, MPI_Datatype their_type, MPI_Op op, MPI_Win window,
                        MPI_Request *request)
{
    COUNTED(PMPI_Rget_accumulate(ours, count, type, result, result_count, result_type, rank, place,
                                 their_count, their_type, op, window, request),
            trace_exchange(op, rank, count, type, result_count, result_type, window))
}

int MPI_Fetch_and_op(const void *ours, void *result, MPI_Datatype type, int rank, MPI_Aint place,
                     MPI_Op op, MPI_Win window)
{
    COUNTED(PMPI_Fetch_and_op(ours, result, type, rank, place, op, window),
            trace_exchange(op, rank, 1, type, 1, type, window))
}

int MPI_Compare_and_swap(const void *ours, const void *compare, void *result, MPI_Datatype type,
                         int rank, MPI_Aint place, MPI_Win window)
{
    COUNTED(PMPI_Compare_and_swap(ours, compare, result, type, rank, place, window),
            trace_exchange(MPI_REPLACE, rank, 1, type, 1, type, window))
}
