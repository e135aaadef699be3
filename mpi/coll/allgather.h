/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_ALLGATHER_H
#define NUIOA_MPI_COLL_ALLGATHER_H

#include "mpi/coll/layout.h"

/* Does MPI_Allgather and MPI_Allgatherv by the algorithm `how`. The arguments are MPI's, already
 * checked: `count` elements of `type` in `out` are this rank's block, and `in` describes the
 * receive buffer. MPI_IN_PLACE is allowed for `out`. All ranks of the communicator call it. Returns
 * an MPI error code. */
int coll_allgather(struct coll_comm *c, const struct coll_algorithm *how, const void *out,
                   int count, MPI_Datatype type, const struct coll_blocks *in);

#endif
