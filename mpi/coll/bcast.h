/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_BCAST_H
#define NUIOA_MPI_COLL_BCAST_H

#include "mpi/coll/comm.h"

/* MPI_Bcast by the algorithm `how`. The arguments are MPI's, already checked. Collective. Returns
 * an MPI error code. */
int coll_bcast(struct coll_comm *c, const struct coll_algorithm *how, void *buffer, int count,
               MPI_Datatype type, int root);

#endif
