/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_SCATTER_H
#define NUIOA_MPI_COLL_SCATTER_H

#include "mpi/coll/layout.h"

/* MPI_Scatter and MPI_Scatterv by the algorithm `how`. The arguments are MPI's, already checked;
 * `out` describes the send buffer of the root. Collective. Returns an MPI error code. */
int coll_scatter(struct coll_comm *c, const struct coll_algorithm *how,
                 const struct coll_blocks *out, void *in, int count, MPI_Datatype type, int root);

#endif
