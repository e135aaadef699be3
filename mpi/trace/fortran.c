/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "mpi/trace/trace.h"

#define FIND(known, name) trace_next(known, name)
#include "mpi/fortran.h"

/* The Fortran entry points. MPICH's own call the C functions by their MPI_ names, except some that
 * start MPI. Open MPI's own do not, so each call is counted here. */

/* The call of the next function, in which all arguments are pointers; and the end of each entry
 * point, which counts the event. */
#define CALL(...) \
    bool outermost = trace_enter(__builtin_frame_address(0)); \
    call(__VA_ARGS__); \
    trace_leave(outermost)
#define COUNTED(event) \
    if (*ierr == MPI_SUCCESS && outermost) \
        event;

void NAME(init)(fint ierr)
{
    REAL(init);
    CALL(ierr);
    COUNTED(trace_begin())
}

void NAME(init_thread)(fint required, fint provided, fint ierr)
{
    REAL(init_thread);
    CALL(required, provided, ierr);
    COUNTED(trace_begin())
}

void NAME(finalize)(fint ierr)
{
    REAL(finalize);
    trace_end();
    CALL(ierr);
}

void NAME(abort)(fint comm, fint code, fint ierr)
{
    REAL(abort);
    trace_cut_short();
    CALL(comm, code, ierr);
}

#ifdef OPEN_MPI

#define COMM PMPI_Comm_f2c(*comm)
#define TYPE PMPI_Type_f2c(*type)
#define IN_TYPE PMPI_Type_f2c(*in_type)
#define WINDOW PMPI_Win_f2c(*window)
#define ALL(count) ((struct trace_counts){ .all = count })
#define EACH(counts) ((struct trace_counts){ .each = counts })

/* In Fortran, MPI_IN_PLACE is the address of a variable. */
static bool in_place(const void *buffer)
{
    static const void *place;
    if (!place)
        place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    return place && buffer == place;
}

/* --- point to point -------------------------------------------------------------------------- */

#define SEND(name) \
    void NAME(name)(void *buffer, fint count, fint type, fint dest, fint tag, fint comm, \
                    fint ierr) \
    { \
        REAL(name); \
        CALL(buffer, count, type, dest, tag, comm, ierr); \
        COUNTED(trace_send(*dest, *count, TYPE, COMM)) \
    }
SEND(send)
SEND(bsend)
SEND(ssend)
SEND(rsend)

#define SEND_REQUEST(name, how) \
    void NAME(name)(void *buffer, fint count, fint type, fint dest, fint tag, fint comm, \
                    fint request, fint ierr) \
    { \
        REAL(name); \
        CALL(buffer, count, type, dest, tag, comm, request, ierr); \
        how(SENT) \
    }
#define SENT trace_send(*dest, *count, TYPE, COMM)

/* The event of a persistent request is counted each time the request is started. */
#define PREPARED(event) \
    COUNTED((trace_prepare(), event, trace_prepared(PMPI_Request_f2c(*request))))
SEND_REQUEST(isend, COUNTED)
SEND_REQUEST(ibsend, COUNTED)
SEND_REQUEST(issend, COUNTED)
SEND_REQUEST(irsend, COUNTED)
SEND_REQUEST(send_init, PREPARED)
SEND_REQUEST(bsend_init, PREPARED)
SEND_REQUEST(ssend_init, PREPARED)
SEND_REQUEST(rsend_init, PREPARED)

void NAME(start)(fint request, fint ierr)
{
    REAL(start);
    MPI_Request before = PMPI_Request_f2c(*request);
    CALL(request, ierr);
    COUNTED(trace_start(before, PMPI_Request_f2c(*request)))
}

void NAME(startall)(fint count, MPI_Fint requests[], fint ierr)
{
    REAL(startall);
    MPI_Request *before = trace_handles(*count);
    for (int i = 0; before && i < *count; i++)
        before[i] = PMPI_Request_f2c(requests[i]);
    CALL(count, requests, ierr);
    for (int i = 0; before && i < *count && outermost && *ierr == MPI_SUCCESS; i++)
        trace_start(before[i], PMPI_Request_f2c(requests[i]));
    free(before);
}

void NAME(request_free)(fint request, fint ierr)
{
    REAL(request_free);
    MPI_Request before = PMPI_Request_f2c(*request);
    CALL(request, ierr);
    if (*ierr == MPI_SUCCESS)
        trace_forget(before);
}

void NAME(sendrecv)(void *out, fint count, fint type, fint dest, fint tag, void *in, fint in_count,
                    fint in_type, fint source, fint in_tag, fint comm, fint status, fint ierr)
{
    REAL(sendrecv);
    CALL(out, count, type, dest, tag, in, in_count, in_type, source, in_tag, comm, status, ierr);
    COUNTED(SENT)
}

void NAME(sendrecv_replace)(void *buffer, fint count, fint type, fint dest, fint tag, fint source,
                            fint in_tag, fint comm, fint status, fint ierr)
{
    REAL(sendrecv_replace);
    CALL(buffer, count, type, dest, tag, source, in_tag, comm, status, ierr);
    COUNTED(SENT)
}

#if TRACE_MPI_4
void NAME(isendrecv)(void *out, fint count, fint type, fint dest, fint tag, void *in, fint in_count,
                     fint in_type, fint source, fint in_tag, fint comm, fint request, fint ierr)
{
    REAL(isendrecv);
    CALL(out, count, type, dest, tag, in, in_count, in_type, source, in_tag, comm, request, ierr);
    COUNTED(SENT)
}

void NAME(isendrecv_replace)(void *buffer, fint count, fint type, fint dest, fint tag, fint source,
                             fint in_tag, fint comm, fint request, fint ierr)
{
    REAL(isendrecv_replace);
    CALL(buffer, count, type, dest, tag, source, in_tag, comm, request, ierr);
    COUNTED(SENT)
}

void NAME(psend_init)(void *buffer, fint parts, MPI_Count *count, fint type, fint dest, fint tag,
                      fint comm, fint info, fint request, fint ierr)
{
    REAL(psend_init);
    CALL(buffer, parts, count, type, dest, tag, comm, info, request, ierr);
    PREPARED(trace_send(*dest, *parts * *count, TYPE, COMM))
}
#endif

/* --- collectives, each also non-blocking and, where the library has that, persistent --------- */

#define LIST(...) __VA_ARGS__
#define BLOCKING(name, parameters, arguments, event) \
    void NAME(name)(parameters, fint ierr) \
    { \
        REAL(name); \
        CALL(arguments, ierr); \
        COUNTED(event) \
    } \
    void NAME(i##name)(parameters, fint request, fint ierr) \
    { \
        REAL(i##name); \
        CALL(arguments, request, ierr); \
        COUNTED(event) \
    }
#if TRACE_MPI_4
#define COLLECTIVE(name, parameters, arguments, event) \
    BLOCKING(name, LIST(parameters), LIST(arguments), event) \
    void NAME(name##_init)(parameters, fint info, fint request, fint ierr) \
    { \
        REAL(name##_init); \
        CALL(arguments, info, request, ierr); \
        PREPARED(event) \
    }
#else
#define COLLECTIVE BLOCKING
#endif

COLLECTIVE(bcast, LIST(void *buffer, fint count, fint type, fint root, fint comm),
           LIST(buffer, count, type, root, comm), trace_bcast(*count, TYPE, *root, COMM))
COLLECTIVE(reduce, LIST(void *out, void *in, fint count, fint type, fint op, fint root, fint comm),
           LIST(out, in, count, type, op, root, comm), trace_reduce(*count, TYPE, *root, COMM))

#define FOLD_PARAMETERS LIST(void *out, void *in, fint count, fint type, fint op, fint comm)
#define FOLD_ARGUMENTS LIST(out, in, count, type, op, comm)
COLLECTIVE(allreduce, FOLD_PARAMETERS, FOLD_ARGUMENTS, trace_allreduce(*count, TYPE, COMM))
COLLECTIVE(scan, FOLD_PARAMETERS, FOLD_ARGUMENTS, trace_scan(*count, TYPE, COMM))
COLLECTIVE(exscan, FOLD_PARAMETERS, FOLD_ARGUMENTS, trace_scan(*count, TYPE, COMM))
COLLECTIVE(reduce_scatter_block, FOLD_PARAMETERS, FOLD_ARGUMENTS,
           trace_reduce_scatter(ALL(*count), TYPE, COMM))
COLLECTIVE(reduce_scatter, FOLD_PARAMETERS, FOLD_ARGUMENTS,
           trace_reduce_scatter(EACH(count), TYPE, COMM))

#define ROOTED_PARAMETERS \
    LIST(void *out, fint count, fint type, void *in, fint in_count, fint in_type, fint root, \
         fint comm)
#define ROOTED_ARGUMENTS LIST(out, count, type, in, in_count, in_type, root, comm)
COLLECTIVE(gather, ROOTED_PARAMETERS, ROOTED_ARGUMENTS,
           trace_gather(in_place(out), *count, TYPE, *root, COMM))
COLLECTIVE(scatter, ROOTED_PARAMETERS, ROOTED_ARGUMENTS,
           trace_scatter(ALL(*count), TYPE, *root, COMM))
COLLECTIVE(gatherv,
           LIST(void *out, fint count, fint type, void *in, fint in_counts, fint places,
                fint in_type, fint root, fint comm),
           LIST(out, count, type, in, in_counts, places, in_type, root, comm),
           trace_gather(in_place(out), *count, TYPE, *root, COMM))
COLLECTIVE(scatterv,
           LIST(void *out, fint counts, fint places, fint type, void *in, fint in_count,
                fint in_type, fint root, fint comm),
           LIST(out, counts, places, type, in, in_count, in_type, root, comm),
           trace_scatter(EACH(counts), TYPE, *root, COMM))

#define SAME_PARAMETERS \
    LIST(void *out, fint count, fint type, void *in, fint in_count, fint in_type, fint comm)
#define SAME_ARGUMENTS LIST(out, count, type, in, in_count, in_type, comm)
COLLECTIVE(allgather, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_allgather(ALL(*in_count), IN_TYPE, COMM))
COLLECTIVE(alltoall, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_alltoall(ALL(in_place(out) ? *in_count : *count), in_place(out) ? IN_TYPE : TYPE,
                          NULL, COMM))
COLLECTIVE(allgatherv,
           LIST(void *out, fint count, fint type, void *in, fint in_counts, fint places,
                fint in_type, fint comm),
           LIST(out, count, type, in, in_counts, places, in_type, comm),
           trace_allgather(EACH(in_counts), IN_TYPE, COMM))
COLLECTIVE(alltoallv,
           LIST(void *out, fint counts, fint places, fint type, void *in, fint in_counts,
                fint in_places, fint in_type, fint comm),
           LIST(out, counts, places, type, in, in_counts, in_places, in_type, comm),
           trace_alltoall(EACH(in_place(out) ? in_counts : counts), in_place(out) ? IN_TYPE : TYPE,
                          NULL, COMM))

/* --- with the neighbours of a topology ------------------------------------------------------- */

COLLECTIVE(neighbor_allgather, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_neighbours(ALL(*count), TYPE, NULL, COMM))
COLLECTIVE(neighbor_alltoall, SAME_PARAMETERS, SAME_ARGUMENTS,
           trace_neighbours(ALL(*count), TYPE, NULL, COMM))
COLLECTIVE(neighbor_allgatherv,
           LIST(void *out, fint count, fint type, void *in, fint in_counts, fint places,
                fint in_type, fint comm),
           LIST(out, count, type, in, in_counts, places, in_type, comm),
           trace_neighbours(ALL(*count), TYPE, NULL, COMM))
COLLECTIVE(neighbor_alltoallv,
           LIST(void *out, fint counts, fint places, fint type, void *in, fint in_counts,
                fint in_places, fint in_type, fint comm),
           LIST(out, counts, places, type, in, in_counts, in_places, in_type, comm),
           trace_neighbours(EACH(counts), TYPE, NULL, COMM))

/* --- one-sided ------------------------------------------------------------------------------- */

typedef MPI_Aint *faint;

#define ONE_SIDED(name, direction) \
    void NAME(name)(void *ours, fint count, fint type, fint rank, faint place, fint their_count, \
                    fint their_type, fint window, fint ierr) \
    { \
        REAL(name); \
        CALL(ours, count, type, rank, place, their_count, their_type, window, ierr); \
        COUNTED(trace_one_sided(direction, *rank, *count, TYPE, WINDOW)) \
    } \
    void NAME(r##name)(void *ours, fint count, fint type, fint rank, faint place, \
                       fint their_count, fint their_type, fint window, fint request, fint ierr) \
    { \
        REAL(r##name); \
        CALL(ours, count, type, rank, place, their_count, their_type, window, request, ierr); \
        COUNTED(trace_one_sided(direction, *rank, *count, TYPE, WINDOW)) \
    }
ONE_SIDED(put, TRACE_TO)
ONE_SIDED(get, TRACE_FROM)

void NAME(accumulate)(void *ours, fint count, fint type, fint rank, faint place, fint their_count,
                      fint their_type, fint op, fint window, fint ierr)
{
    REAL(accumulate);
    CALL(ours, count, type, rank, place, their_count, their_type, op, window, ierr);
    COUNTED(trace_one_sided(TRACE_TO, *rank, *count, TYPE, WINDOW))
}

void NAME(raccumulate)(void *ours, fint count, fint type, fint rank, faint place, fint their_count,
                       fint their_type, fint op, fint window, fint request, fint ierr)
{
    REAL(raccumulate);
    CALL(ours, count, type, rank, place, their_count, their_type, op, window, request, ierr);
    COUNTED(trace_one_sided(TRACE_TO, *rank, *count, TYPE, WINDOW))
}

#define OP PMPI_Op_f2c(*op)
#define BACK_TYPE PMPI_Type_f2c(*back_type)

void NAME(get_accumulate)(void *ours, fint count, fint type, void *back, fint back_count,
                          fint back_type, fint rank, faint place, fint their_count, fint their_type,
                          fint op, fint window, fint ierr)
{
    REAL(get_accumulate);
    CALL(ours, count, type, back, back_count, back_type, rank, place, their_count, their_type, op,
         window, ierr);
    COUNTED(trace_exchange(OP, *rank, *count, TYPE, *back_count, BACK_TYPE, WINDOW))
}

void NAME(rget_accumulate)(void *ours, fint count, fint type, void *back, fint back_count,
                           fint back_type, fint rank, faint place, fint their_count,
                           fint their_type, fint op, fint window, fint request, fint ierr)
{
    REAL(rget_accumulate);
    CALL(ours, count, type, back, back_count, back_type, rank, place, their_count, their_type, op,
         window, request, ierr);
    COUNTED(trace_exchange(OP, *rank, *count, TYPE, *back_count, BACK_TYPE, WINDOW))
}

void NAME(fetch_and_op)(void *ours, void *back, fint type, fint rank, faint place, fint op,
                        fint window, fint ierr)
{
    REAL(fetch_and_op);
    CALL(ours, back, type, rank, place, op, window, ierr);
    COUNTED(trace_exchange(OP, *rank, 1, TYPE, 1, TYPE, WINDOW))
}

void NAME(compare_and_swap)(void *ours, void *compare, void *back, fint type, fint rank,
                            faint place, fint window, fint ierr)
{
    REAL(compare_and_swap);
    CALL(ours, compare, back, type, rank, place, window, ierr);
    COUNTED(trace_exchange(MPI_REPLACE, *rank, 1, TYPE, 1, TYPE, WINDOW))
}

#endif
