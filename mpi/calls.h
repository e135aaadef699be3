/* SPDX-License-Identifier: BSD-3-Clause */

/* The MPI functions that libnuioa-preload.so exports and libnuioa-trace records. A row stands for a
 * function in all its languages and forms. There is no include guard, because each form includes
 * this file. It defines before what becomes of a row:
 *
 *   CALL(c, fortran, parameters, arguments, event)
 *             a function, by its names in C and in Fortran; `event` counts what a call sends
 *   ONE_FORM(...)
 *             the same for a function without a number of elements: the others have another form
 *             in C for large numbers, since MPI 4
 *   OWN(c, fortran)
 *             a function whose entry points are written by hand
 *   TRACE_MPI_4
 *             1: functions of MPI 4 are wanted, too
 *   FORTRAN   the functions that take arrays of types are left out
 *
 * If the form uses parameters and events, it also defines the types of parameters, INT to REQUEST;
 * GET(), the value of a number; GET_TYPE() to GET_REQUEST(), MPI's handles; ALL() and EACH(), which
 * make a struct trace_counts of a number and of an array; and IN_PLACE(), whether a buffer is
 * MPI_IN_PLACE. Those that start MPI come first. */

/* LIST(...) makes one macro argument of a list that has commas. */
#define LIST(...) __VA_ARGS__

/* The event of a persistent request is counted each time the request is started. */
#define PREPARED(event) (trace_prepare(), event, trace_prepared(GET_REQUEST(*request)))

#define BLOCKING(c, fortran, parameters, arguments, event) \
    CALL(c, fortran, LIST(parameters), LIST(arguments), event) \
    CALL(I##fortran, i##fortran, LIST(parameters, REQUEST request), LIST(arguments, request), event)

OWN(Init, init)
OWN(Init_thread, init_thread)
OWN(Finalize, finalize)
OWN(Abort, abort)

/* --- point to point, each also non-blocking and persistent ----------------------------------- */

#define SEND_PARAMETERS \
    LIST(const void *buffer, COUNT count, TYPE type, INT dest, INT tag, COMM comm)
#define SEND_ARGUMENTS LIST(buffer, count, type, dest, tag, comm)
#define SENT trace_send(GET(dest), GET(count), GET_TYPE(type), GET_COMM(comm))
#define SEND(c, fortran) \
    BLOCKING(c, fortran, LIST(SEND_PARAMETERS), LIST(SEND_ARGUMENTS), SENT) \
    CALL(c##_init, fortran##_init, LIST(SEND_PARAMETERS, REQUEST request), \
         LIST(SEND_ARGUMENTS, request), PREPARED(SENT))
SEND(Send, send)
SEND(Bsend, bsend)
SEND(Ssend, ssend)
SEND(Rsend, rsend)

#define SENDRECV_PARAMETERS \
    LIST(const void *out, COUNT count, TYPE type, INT dest, INT tag, void *in, COUNT in_count, \
         TYPE in_type, INT source, INT in_tag, COMM comm)
#define SENDRECV_ARGUMENTS \
    LIST(out, count, type, dest, tag, in, in_count, in_type, source, in_tag, comm)
#define REPLACE_PARAMETERS \
    LIST(void *buffer, COUNT count, TYPE type, INT dest, INT tag, INT source, INT in_tag, COMM comm)
#define REPLACE_ARGUMENTS LIST(buffer, count, type, dest, tag, source, in_tag, comm)
CALL(Sendrecv, sendrecv, LIST(SENDRECV_PARAMETERS, STATUS status), LIST(SENDRECV_ARGUMENTS, status),
     SENT)
CALL(Sendrecv_replace, sendrecv_replace, LIST(REPLACE_PARAMETERS, STATUS status),
     LIST(REPLACE_ARGUMENTS, status), SENT)

OWN(Start, start)
OWN(Startall, startall)
OWN(Request_free, request_free)

#if TRACE_MPI_4
CALL(Isendrecv, isendrecv, LIST(SENDRECV_PARAMETERS, REQUEST request),
     LIST(SENDRECV_ARGUMENTS, request), SENT)
CALL(Isendrecv_replace, isendrecv_replace, LIST(REPLACE_PARAMETERS, REQUEST request),
     LIST(REPLACE_ARGUMENTS, request), SENT)

/* A partitioned send has parts that become ready one by one. It is counted as one message. */
ONE_FORM(Psend_init, psend_init,
         LIST(const void *buffer, INT parts, LARGE count, TYPE type, INT dest, INT tag, COMM comm,
              INFO info, REQUEST request),
         LIST(buffer, parts, count, type, dest, tag, comm, info, request),
         PREPARED(trace_send(GET(dest), GET(parts) * GET(count), GET_TYPE(type), GET_COMM(comm))))
#endif

/* --- collectives, each also non-blocking and, where the library has that, persistent --------- */

#if TRACE_MPI_4
#define COLLECTIVE(c, fortran, parameters, arguments, event) \
    BLOCKING(c, fortran, LIST(parameters), LIST(arguments), event) \
    CALL(c##_init, fortran##_init, LIST(parameters, INFO info, REQUEST request), \
         LIST(arguments, info, request), PREPARED(event))
#else
#define COLLECTIVE BLOCKING
#endif

COLLECTIVE(Bcast, bcast, LIST(void *buffer, COUNT count, TYPE type, INT root, COMM comm),
           LIST(buffer, count, type, root, comm),
           trace_bcast(GET(count), GET_TYPE(type), GET(root), GET_COMM(comm)))
COLLECTIVE(Reduce, reduce,
           LIST(const void *out, void *in, COUNT count, TYPE type, OP op, INT root, COMM comm),
           LIST(out, in, count, type, op, root, comm),
           trace_reduce(GET(count), GET_TYPE(type), GET(root), GET_COMM(comm)))

#define FOLD(c, fortran, event) \
    COLLECTIVE(c, fortran, \
               LIST(const void *out, void *in, COUNT count, TYPE type, OP op, COMM comm), \
               LIST(out, in, count, type, op, comm), event)
FOLD(Allreduce, allreduce, trace_allreduce(GET(count), GET_TYPE(type), GET_COMM(comm)))
FOLD(Scan, scan, trace_scan(GET(count), GET_TYPE(type), GET_COMM(comm)))
FOLD(Exscan, exscan, trace_scan(GET(count), GET_TYPE(type), GET_COMM(comm)))
FOLD(Reduce_scatter_block, reduce_scatter_block,
     trace_reduce_scatter(ALL(count), GET_TYPE(type), GET_COMM(comm)))
COLLECTIVE(Reduce_scatter, reduce_scatter,
           LIST(const void *out, void *in, COUNTS counts, TYPE type, OP op, COMM comm),
           LIST(out, in, counts, type, op, comm),
           trace_reduce_scatter(EACH(counts), GET_TYPE(type), GET_COMM(comm)))

#define ROOTED(c, fortran, event) \
    COLLECTIVE(c, fortran, \
               LIST(const void *out, COUNT count, TYPE type, void *in, COUNT in_count, \
                    TYPE in_type, INT root, COMM comm), \
               LIST(out, count, type, in, in_count, in_type, root, comm), event)
#define GATHERED trace_gather(IN_PLACE(out), GET(count), GET_TYPE(type), GET(root), GET_COMM(comm))
ROOTED(Gather, gather, GATHERED)
ROOTED(Scatter, scatter, trace_scatter(ALL(count), GET_TYPE(type), GET(root), GET_COMM(comm)))
COLLECTIVE(Gatherv, gatherv,
           LIST(const void *out, COUNT count, TYPE type, void *in, COUNTS in_counts, PLACES places,
                TYPE in_type, INT root, COMM comm),
           LIST(out, count, type, in, in_counts, places, in_type, root, comm), GATHERED)
COLLECTIVE(Scatterv, scatterv,
           LIST(const void *out, COUNTS counts, PLACES places, TYPE type, void *in, COUNT in_count,
                TYPE in_type, INT root, COMM comm),
           LIST(out, counts, places, type, in, in_count, in_type, root, comm),
           trace_scatter(EACH(counts), GET_TYPE(type), GET(root), GET_COMM(comm)))

/* Each of these is there also for the neighbours of a topology. They send the same parts, but no
 * part in place. */
#define SAME(c, fortran, event) \
    COLLECTIVE(c, fortran, \
               LIST(const void *out, COUNT count, TYPE type, void *in, COUNT in_count, \
                    TYPE in_type, COMM comm), \
               LIST(out, count, type, in, in_count, in_type, comm), event)
#define GATHERING(c, fortran, event) \
    COLLECTIVE(c, fortran, \
               LIST(const void *out, COUNT count, TYPE type, void *in, COUNTS in_counts, \
                    PLACES places, TYPE in_type, COMM comm), \
               LIST(out, count, type, in, in_counts, places, in_type, comm), event)
#define EXCHANGING(c, fortran, event) \
    COLLECTIVE(c, fortran, \
               LIST(const void *out, COUNTS counts, PLACES places, TYPE type, void *in, \
                    COUNTS in_counts, PLACES in_places, TYPE in_type, COMM comm), \
               LIST(out, counts, places, type, in, in_counts, in_places, in_type, comm), event)
#define MIXED(c, fortran, places_type, event) \
    COLLECTIVE(c, fortran, \
               LIST(const void *out, COUNTS counts, places_type places, const MPI_Datatype *types, \
                    void *in, COUNTS in_counts, places_type in_places, \
                    const MPI_Datatype *in_types, COMM comm), \
               LIST(out, counts, places, types, in, in_counts, in_places, in_types, comm), event)
#define SENDS(normal, in_place) (IN_PLACE(out) ? in_place : normal)
SAME(Allgather, allgather, trace_allgather(ALL(in_count), GET_TYPE(in_type), GET_COMM(comm)))
GATHERING(Allgatherv, allgatherv,
          trace_allgather(EACH(in_counts), GET_TYPE(in_type), GET_COMM(comm)))
SAME(Alltoall, alltoall,
     trace_alltoall(ALL(SENDS(count, in_count)), GET_TYPE(SENDS(type, in_type)), NULL,
                    GET_COMM(comm)))
EXCHANGING(Alltoallv, alltoallv,
           trace_alltoall(EACH(SENDS(counts, in_counts)), GET_TYPE(SENDS(type, in_type)), NULL,
                          GET_COMM(comm)))
#define TO_NEIGHBOURS(counts) trace_neighbours(counts, GET_TYPE(type), NULL, GET_COMM(comm))
SAME(Neighbor_allgather, neighbor_allgather, TO_NEIGHBOURS(ALL(count)))
GATHERING(Neighbor_allgatherv, neighbor_allgatherv, TO_NEIGHBOURS(ALL(count)))
SAME(Neighbor_alltoall, neighbor_alltoall, TO_NEIGHBOURS(ALL(count)))
EXCHANGING(Neighbor_alltoallv, neighbor_alltoallv, TO_NEIGHBOURS(EACH(counts)))
#ifndef FORTRAN
MIXED(Alltoallw, alltoallw, PLACES,
      trace_alltoall(EACH(SENDS(counts, in_counts)), MPI_BYTE, SENDS(types, in_types), comm))
MIXED(Neighbor_alltoallw, neighbor_alltoallw, const MPI_Aint *,
      trace_neighbours(EACH(counts), MPI_BYTE, types, comm))
#endif

/* --- one-sided, each also with a request ----------------------------------------------------- */

#define ONE_SIDED(c, fortran, parameters, arguments, event) \
    CALL(c, fortran, LIST(parameters), LIST(arguments), event) \
    CALL(R##fortran, r##fortran, LIST(parameters, REQUEST request), LIST(arguments, request), event)
#define MOVED(direction) \
    trace_one_sided(direction, GET(rank), GET(count), GET_TYPE(type), GET_WINDOW(window))
#define EXCHANGED(op, count, type, back_count, back_type) \
    trace_exchange(op, GET(rank), count, GET_TYPE(type), back_count, GET_TYPE(back_type), \
                   GET_WINDOW(window))
ONE_SIDED(Put, put,
          LIST(const void *ours, COUNT count, TYPE type, INT rank, AINT place, COUNT their_count,
               TYPE their_type, WINDOW window),
          LIST(ours, count, type, rank, place, their_count, their_type, window), MOVED(TRACE_TO))
ONE_SIDED(Get, get,
          LIST(void *ours, COUNT count, TYPE type, INT rank, AINT place, COUNT their_count,
               TYPE their_type, WINDOW window),
          LIST(ours, count, type, rank, place, their_count, their_type, window), MOVED(TRACE_FROM))
ONE_SIDED(Accumulate, accumulate,
          LIST(const void *ours, COUNT count, TYPE type, INT rank, AINT place, COUNT their_count,
               TYPE their_type, OP op, WINDOW window),
          LIST(ours, count, type, rank, place, their_count, their_type, op, window),
          MOVED(TRACE_TO))
ONE_SIDED(Get_accumulate, get_accumulate,
          LIST(const void *ours, COUNT count, TYPE type, void *back, COUNT back_count,
               TYPE back_type, INT rank, AINT place, COUNT their_count, TYPE their_type, OP op,
               WINDOW window),
          LIST(ours, count, type, back, back_count, back_type, rank, place, their_count, their_type,
               op, window),
          EXCHANGED(GET_OP(op), GET(count), type, GET(back_count), back_type))
ONE_FORM(Fetch_and_op, fetch_and_op,
         LIST(const void *ours, void *back, TYPE type, INT rank, AINT place, OP op, WINDOW window),
         LIST(ours, back, type, rank, place, op, window), EXCHANGED(GET_OP(op), 1, type, 1, type))
ONE_FORM(Compare_and_swap, compare_and_swap,
         LIST(const void *ours, const void *compare, void *back, TYPE type, INT rank, AINT place,
              WINDOW window),
         LIST(ours, compare, back, type, rank, place, window),
         EXCHANGED(MPI_REPLACE, 1, type, 1, type))
