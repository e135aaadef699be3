/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_ENTER_H
#define NUIOA_MPI_COLL_ENTER_H

#include "mpi/coll/comm.h"

/* After so many calls in a row with a buffer of a GPU, all calls of the communicator are passed on,
 * and the ranks do not ask each other any more. */
#define COLL_DEVICE_CALLS 8

/* libnuioa-coll runs collectives through leaders beside the NIC: B. Goglin and S. Moreaud, "Dodging
 * Non-Uniform I/O Access in Hierarchical Collective Operations for Multicore Clusters", CASS
 * workshop at IPDPS, 2011. The program's calls arrive in mpi/coll/calls.c and mpi/coll/fortran.c.
 * Each of them is passed on to the MPI library as it is, or led here. The library itself calls MPI
 * by its PMPI names only. */

/* Starts the library after MPI_Init: reads its settings, and sends no message. A second call does
 * nothing. */
void coll_begin(void);

/* Ends the library before MPI_Finalize, and frees what it has. All ranks of MPI_COMM_WORLD call it.
 * Calls are passed on afterwards. */
void coll_end(void);

/* A buffer that the program gives to a call on this rank. */
struct coll_buffer {
    const void *first; /* of the first element, as in MPI; MPI_IN_PLACE is none */
    int count;         /* 0: the call neither reads nor writes it on this rank */
    MPI_Datatype type;
};

/* Decides whether a call of `collective` with a message of `bytes` bytes, as table.h counts them,
 * is led. Returns true with *algorithm, or false if it is to be passed on to the MPI library; then
 * *algorithm is undefined. `c` comes from coll_comm(). `buffers` are this rank's own: if the ranks
 * of the communicator ask each other (comm.h), and the CPU must not touch a buffer of one of them,
 * the call is passed on. All ranks of the communicator call it with the same `bytes`, and the
 * result is the same on all of them; it may wait for them (coll_comm_ready in mpi/coll/comm.h). */
bool coll_enter(struct coll_comm *c, enum coll_collective collective, uint64_t bytes,
                const struct coll_buffer buffers[2], struct coll_algorithm *algorithm);

/* Does the same for a call in which only the rank `root` knows `total_bytes`, the size of all
 * blocks together. The root sends it to the others, which costs a broadcast of 8 bytes; their
 * `total_bytes` is ignored. If that fails, it returns false. */
bool coll_enter_told(struct coll_comm *c, enum coll_collective collective, int root,
                     uint64_t total_bytes, const struct coll_buffer buffers[2],
                     struct coll_algorithm *algorithm);

#endif
