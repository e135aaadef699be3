/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_ENTER_H
#define NUIOA_MPI_COLL_ENTER_H

#include "mpi/coll/comm.h"

/* libnuioa-coll runs collectives through leaders beside the NIC: B. Goglin and S. Moreaud, "Dodging
 * Non-Uniform I/O Access in Hierarchical Collective Operations for Multicore Clusters", CASS
 * workshop at IPDPS, 2011. The program's calls arrive in mpi/coll/calls.c and mpi/coll/fortran.c.
 * Each of them is passed on to the MPI library as it is, or led here. The library itself calls MPI
 * by its PMPI names only. */

/* Starts the library after MPI_Init. A second call does nothing. */
void coll_begin(void);

/* Ends it before MPI_Finalize; collective over MPI_COMM_WORLD. */
void coll_end(void);

/* Decides whether a call with a message of this size is led, and fills *algorithm if so. Returns
 * false if it is to be passed on to the MPI library. The result is the same on all ranks of the
 * communicator, which must have agreed (mpi/coll/comm.h). */
bool coll_enter(struct coll_comm *c, enum coll_collective collective, uint64_t bytes,
                struct coll_algorithm *algorithm);

/* Does the same for a call in which only `root` knows `total_bytes`, the size of all blocks
 * together. The root sends it to the others, which costs a broadcast of 8 bytes. */
bool coll_enter_told(struct coll_comm *c, enum coll_collective collective, int root,
                     uint64_t total_bytes, struct coll_algorithm *algorithm);

#endif
