#ifndef NUIOA_MPI_CALLS_H
#define NUIOA_MPI_CALLS_H

/* The calls that stand between a program and its MPI library, as X(C name, Fortran name). Those
 * that start MPI come first. */

#define CALLS_THAT_START(X) X(Init, init) X(Init_thread, init_thread)

#define CALLS(X) \
    CALLS_THAT_START(X) X(Finalize, finalize) X(Abort, abort) \
    X(Intercomm_merge, intercomm_merge) \
    X(Send, send) X(Bsend, bsend) X(Ssend, ssend) X(Rsend, rsend) \
    X(Isend, isend) X(Ibsend, ibsend) X(Issend, issend) X(Irsend, irsend) \
    X(Send_init, send_init) X(Bsend_init, bsend_init) X(Ssend_init, ssend_init) \
    X(Rsend_init, rsend_init) X(Start, start) X(Startall, startall) \
    X(Request_free, request_free) X(Sendrecv, sendrecv) X(Sendrecv_replace, sendrecv_replace) \
    X(Bcast, bcast) X(Ibcast, ibcast) X(Reduce, reduce) X(Ireduce, ireduce) \
    X(Allreduce, allreduce) X(Iallreduce, iallreduce) X(Scan, scan) X(Iscan, iscan) \
    X(Exscan, exscan) X(Iexscan, iexscan) \
    X(Gather, gather) X(Igather, igather) X(Gatherv, gatherv) X(Igatherv, igatherv) \
    X(Scatter, scatter) X(Iscatter, iscatter) X(Scatterv, scatterv) X(Iscatterv, iscatterv) \
    X(Allgather, allgather) X(Iallgather, iallgather) X(Allgatherv, allgatherv) \
    X(Iallgatherv, iallgatherv) X(Alltoall, alltoall) X(Ialltoall, ialltoall) \
    X(Alltoallv, alltoallv) X(Ialltoallv, ialltoallv) X(Alltoallw, alltoallw) \
    X(Ialltoallw, ialltoallw) X(Reduce_scatter, reduce_scatter) \
    X(Ireduce_scatter, ireduce_scatter) X(Reduce_scatter_block, reduce_scatter_block) \
    X(Ireduce_scatter_block, ireduce_scatter_block) \
    X(Neighbor_allgather, neighbor_allgather) X(Ineighbor_allgather, ineighbor_allgather) \
    X(Neighbor_allgatherv, neighbor_allgatherv) X(Ineighbor_allgatherv, ineighbor_allgatherv) \
    X(Neighbor_alltoall, neighbor_alltoall) X(Ineighbor_alltoall, ineighbor_alltoall) \
    X(Neighbor_alltoallv, neighbor_alltoallv) X(Ineighbor_alltoallv, ineighbor_alltoallv) \
    X(Neighbor_alltoallw, neighbor_alltoallw) X(Ineighbor_alltoallw, ineighbor_alltoallw) \
    X(Put, put) X(Rput, rput) X(Get, get) X(Rget, rget) X(Accumulate, accumulate) \
    X(Raccumulate, raccumulate) X(Get_accumulate, get_accumulate) \
    X(Rget_accumulate, rget_accumulate) X(Fetch_and_op, fetch_and_op) \
    X(Compare_and_swap, compare_and_swap)

#endif
