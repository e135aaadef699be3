/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_SCATTER_H
#define NUIOA_MPI_COLL_SCATTER_H

#include "mpi/coll/layout.h"

/* Does MPI_Scatter and MPI_Scatterv by the algorithm `how`. The arguments are MPI's, already
 * checked: `out` describes the send buffer, which the root alone has, and this rank's block is
 * received into `in`, `count` elements of `type`. All ranks of the communicator call it. Returns an
 * MPI error code. */
int coll_scatter(struct coll_comm *c, const struct coll_algorithm *how,
                 const struct coll_blocks *out, void *in, int count, MPI_Datatype type, int root);

#endif
