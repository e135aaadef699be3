/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_ENTER_H
#define NUIOA_MPI_COLL_ENTER_H

#include "mpi/coll/comm.h"

/* After so many calls in a row with a buffer of a GPU, all calls of the communicator are passed on,
 * and the ranks do not ask each other any more. */
#define COLL_DEVICE_CALLS 8

/* libnuioa-coll runs broadcasts through leaders beside the NIC: B. Goglin and S. Moreaud, "Dodging
 * Non-Uniform I/O Access in Hierarchical Collective Operations for Multicore Clusters", CASS
 * workshop at IPDPS, 2011, section 4.1. The program's calls of MPI_Bcast arrive in mpi/coll/calls.c
 * and mpi/coll/fortran.c. Each of them is passed on to the MPI library as it is, or led here. The
 * library itself calls MPI by its PMPI names only. */

/* Starts the library after MPI_Init: reads its settings, and sends no message. A second call does
 * nothing. */
void coll_begin(void);

/* Ends the library before MPI_Finalize, and frees what it has. All ranks of MPI_COMM_WORLD call it.
 * Calls are passed on afterwards. */
void coll_end(void);

/* Decides whether a broadcast of `count` elements of `type` is led. Returns true with *algorithm,
 * or false if it is to be passed on to the MPI library; then *algorithm is undefined. `c` comes
 * from coll_comm(). If the ranks of the communicator ask each other (comm.h), and the CPU must not
 * touch the `buffer` of one of them, the call is passed on. All ranks of the communicator call it
 * with the same number of bytes, and the result is the same on all of them; it may wait for them
 * (coll_comm_ready in mpi/coll/comm.h). */
bool coll_enter(struct coll_comm *c, const void *buffer, int count, MPI_Datatype type,
                struct coll_algorithm *algorithm);

#endif
