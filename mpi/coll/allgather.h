/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_ALLGATHER_H
#define NUIOA_MPI_COLL_ALLGATHER_H

#include "mpi/coll/layout.h"

/* MPI_Allgather and MPI_Allgatherv by the algorithm `how`. The arguments are MPI's, already
 * checked; `in` describes the receive buffer. Collective. Returns an MPI error code. */
int coll_allgather(struct coll_comm *c, const struct coll_algorithm *how, const void *out,
                   int count, MPI_Datatype type, const struct coll_blocks *in);

#endif
