/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_CALLS_H
#define NUIOA_MPI_CALLS_H

/* The MPI functions that libnuioa-preload.so exports, as S("symbol") for each symbol. Those that
 * start MPI come first. An MPI library need not have all of them. */

/* clang-format off */
#define CALL(S, c, fortran) S("MPI_" #c) S("mpi_" #fortran "_") S("mpi_" #fortran "_f08_")

/* A function with a number of elements. MPI 4 has another form of it in C, for large numbers. */
#define COUNTING_CALL(S, c, fortran) CALL(S, c, fortran) S("MPI_" #c "_c")

/* A collective has a blocking, a non-blocking and a persistent form. */
#define COLLECTIVE_CALL(S, c, fortran) \
    COUNTING_CALL(S, c, fortran) COUNTING_CALL(S, I##fortran, i##fortran) \
    COUNTING_CALL(S, c##_init, fortran##_init)

#define CALLS_THAT_START(S) CALL(S, Init, init) CALL(S, Init_thread, init_thread)

#define POINT_CALLS(S) \
    COUNTING_CALL(S, Send, send) COUNTING_CALL(S, Bsend, bsend) \
    COUNTING_CALL(S, Ssend, ssend) COUNTING_CALL(S, Rsend, rsend) \
    COUNTING_CALL(S, Isend, isend) COUNTING_CALL(S, Ibsend, ibsend) \
    COUNTING_CALL(S, Issend, issend) COUNTING_CALL(S, Irsend, irsend) \
    COUNTING_CALL(S, Send_init, send_init) COUNTING_CALL(S, Bsend_init, bsend_init) \
    COUNTING_CALL(S, Ssend_init, ssend_init) COUNTING_CALL(S, Rsend_init, rsend_init) \
    COUNTING_CALL(S, Sendrecv, sendrecv) COUNTING_CALL(S, Isendrecv, isendrecv) \
    COUNTING_CALL(S, Sendrecv_replace, sendrecv_replace) \
    COUNTING_CALL(S, Isendrecv_replace, isendrecv_replace) CALL(S, Psend_init, psend_init) \
    CALL(S, Start, start) CALL(S, Startall, startall) CALL(S, Request_free, request_free)

#define COLLECTIVE_CALLS(S) \
    COLLECTIVE_CALL(S, Bcast, bcast) COLLECTIVE_CALL(S, Reduce, reduce) \
    COLLECTIVE_CALL(S, Allreduce, allreduce) COLLECTIVE_CALL(S, Scan, scan) \
    COLLECTIVE_CALL(S, Exscan, exscan) COLLECTIVE_CALL(S, Reduce_scatter, reduce_scatter) \
    COLLECTIVE_CALL(S, Reduce_scatter_block, reduce_scatter_block) \
    COLLECTIVE_CALL(S, Gather, gather) COLLECTIVE_CALL(S, Gatherv, gatherv) \
    COLLECTIVE_CALL(S, Scatter, scatter) COLLECTIVE_CALL(S, Scatterv, scatterv) \
    COLLECTIVE_CALL(S, Allgather, allgather) COLLECTIVE_CALL(S, Allgatherv, allgatherv) \
    COLLECTIVE_CALL(S, Alltoall, alltoall) COLLECTIVE_CALL(S, Alltoallv, alltoallv) \
    COLLECTIVE_CALL(S, Alltoallw, alltoallw) \
    COLLECTIVE_CALL(S, Neighbor_allgather, neighbor_allgather) \
    COLLECTIVE_CALL(S, Neighbor_allgatherv, neighbor_allgatherv) \
    COLLECTIVE_CALL(S, Neighbor_alltoall, neighbor_alltoall) \
    COLLECTIVE_CALL(S, Neighbor_alltoallv, neighbor_alltoallv) \
    COLLECTIVE_CALL(S, Neighbor_alltoallw, neighbor_alltoallw)

#define ONE_SIDED_CALLS(S) \
    COUNTING_CALL(S, Put, put) COUNTING_CALL(S, Rput, rput) \
    COUNTING_CALL(S, Get, get) COUNTING_CALL(S, Rget, rget) \
    COUNTING_CALL(S, Accumulate, accumulate) COUNTING_CALL(S, Raccumulate, raccumulate) \
    COUNTING_CALL(S, Get_accumulate, get_accumulate) \
    COUNTING_CALL(S, Rget_accumulate, rget_accumulate) \
    CALL(S, Fetch_and_op, fetch_and_op) CALL(S, Compare_and_swap, compare_and_swap)

#define CALLS(S) \
    CALLS_THAT_START(S) CALL(S, Finalize, finalize) CALL(S, Abort, abort) \
    CALL(S, Intercomm_merge, intercomm_merge) \
    POINT_CALLS(S) COLLECTIVE_CALLS(S) ONE_SIDED_CALLS(S)

/* clang-format on */
#endif
