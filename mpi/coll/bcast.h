/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_BCAST_H
#define NUIOA_MPI_COLL_BCAST_H

#include "mpi/coll/comm.h"

/* Does MPI_Bcast of `count` elements of `type` in `buffer` by the algorithm `how`. The arguments
 * are MPI's, already checked. All ranks of the communicator call it. Returns an MPI error code. */
int coll_bcast(struct coll_comm *c, const struct coll_algorithm *how, void *buffer, int count,
               MPI_Datatype type, int root);

#endif
