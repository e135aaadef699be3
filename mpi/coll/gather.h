/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_GATHER_H
#define NUIOA_MPI_COLL_GATHER_H

#include "mpi/coll/layout.h"

/* Does MPI_Gather and MPI_Gatherv by the algorithm `how`. The arguments are MPI's, already checked:
 * `count` elements of `type` in `out` are this rank's block, and `in` describes the receive buffer,
 * which the root alone has. All ranks of the communicator call it. Returns an MPI error code. */
int coll_gather(struct coll_comm *c, const struct coll_algorithm *how, const void *out, int count,
                MPI_Datatype type, const struct coll_blocks *in, int root);

#endif
