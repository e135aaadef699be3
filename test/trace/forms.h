/* SPDX-License-Identifier: BSD-3-Clause */

/* This header makes a program use other forms of its calls: with -DLARGE those of MPI 4 that count
 * by MPI_Count, with -DPERSISTENT collectives as persistent requests that are started twice. */
#include <mpi.h>

#ifdef LARGE
#define FORM(name) MPI_##name##_c
#define COUNT MPI_Count
#define PLACE MPI_Aint
#else
#define FORM(name) MPI_##name
#define COUNT int
#define PLACE int
#endif

#ifdef PERSISTENT
static MPI_Request again;

static int twice(int rc)
{
    for (int i = 0; i < 2 && rc == MPI_SUCCESS; i++) {
        rc = MPI_Start(&again);
        MPI_Wait(&again, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&again);
    return rc;
}
#define COLLECTIVE(name, ...) twice(FORM(name##_init)(__VA_ARGS__, MPI_INFO_NULL, &again))
#else
#define COLLECTIVE(name, ...) FORM(name)(__VA_ARGS__)
#endif

#define MPI_Send(...) FORM(Send)(__VA_ARGS__)
#define MPI_Bsend(...) FORM(Bsend)(__VA_ARGS__)
#define MPI_Ssend(...) FORM(Ssend)(__VA_ARGS__)
#define MPI_Rsend(...) FORM(Rsend)(__VA_ARGS__)
#define MPI_Isend(...) FORM(Isend)(__VA_ARGS__)
#define MPI_Ibsend(...) FORM(Ibsend)(__VA_ARGS__)
#define MPI_Issend(...) FORM(Issend)(__VA_ARGS__)
#define MPI_Irsend(...) FORM(Irsend)(__VA_ARGS__)
#define MPI_Send_init(...) FORM(Send_init)(__VA_ARGS__)
#define MPI_Bsend_init(...) FORM(Bsend_init)(__VA_ARGS__)
#define MPI_Ssend_init(...) FORM(Ssend_init)(__VA_ARGS__)
#define MPI_Rsend_init(...) FORM(Rsend_init)(__VA_ARGS__)
#define MPI_Sendrecv(...) FORM(Sendrecv)(__VA_ARGS__)
#define MPI_Sendrecv_replace(...) FORM(Sendrecv_replace)(__VA_ARGS__)
#define MPI_Isendrecv(...) FORM(Isendrecv)(__VA_ARGS__)
#define MPI_Isendrecv_replace(...) FORM(Isendrecv_replace)(__VA_ARGS__)

#define MPI_Put(...) FORM(Put)(__VA_ARGS__)
#define MPI_Rput(...) FORM(Rput)(__VA_ARGS__)
#define MPI_Get(...) FORM(Get)(__VA_ARGS__)
#define MPI_Rget(...) FORM(Rget)(__VA_ARGS__)
#define MPI_Accumulate(...) FORM(Accumulate)(__VA_ARGS__)
#define MPI_Raccumulate(...) FORM(Raccumulate)(__VA_ARGS__)
#define MPI_Get_accumulate(...) FORM(Get_accumulate)(__VA_ARGS__)
#define MPI_Rget_accumulate(...) FORM(Rget_accumulate)(__VA_ARGS__)

#define MPI_Neighbor_allgather(...) FORM(Neighbor_allgather)(__VA_ARGS__)
#define MPI_Neighbor_alltoall(...) FORM(Neighbor_alltoall)(__VA_ARGS__)
#define MPI_Ineighbor_alltoallv(...) FORM(Ineighbor_alltoallv)(__VA_ARGS__)
#define MPI_Ibcast(...) FORM(Ibcast)(__VA_ARGS__)

#define MPI_Bcast(...) COLLECTIVE(Bcast, __VA_ARGS__)
#define MPI_Reduce(...) COLLECTIVE(Reduce, __VA_ARGS__)
#define MPI_Allreduce(...) COLLECTIVE(Allreduce, __VA_ARGS__)
#define MPI_Scan(...) COLLECTIVE(Scan, __VA_ARGS__)
#define MPI_Gatherv(...) COLLECTIVE(Gatherv, __VA_ARGS__)
#define MPI_Scatterv(...) COLLECTIVE(Scatterv, __VA_ARGS__)
#define MPI_Allgather(...) COLLECTIVE(Allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) COLLECTIVE(Allgatherv, __VA_ARGS__)
#define MPI_Alltoall(...) COLLECTIVE(Alltoall, __VA_ARGS__)
#define MPI_Reduce_scatter(...) COLLECTIVE(Reduce_scatter, __VA_ARGS__)
