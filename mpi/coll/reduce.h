/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_REDUCE_H
#define NUIOA_MPI_COLL_REDUCE_H

#include "mpi/coll/comm.h"

/* MPI_Reduce and MPI_Allreduce by the algorithm `how`, for the operations and types that
 * coll_op_is_plain accepts. The arguments are MPI's, already checked. Collective. They return an
 * MPI error code. */
int coll_reduce(struct coll_comm *c, const struct coll_algorithm *how, const void *out, void *in,
                int count, MPI_Datatype type, MPI_Op op, int root);
int coll_allreduce(struct coll_comm *c, const struct coll_algorithm *how, const void *out, void *in,
                   int count, MPI_Datatype type, MPI_Op op);

#endif
