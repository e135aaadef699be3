/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_REDUCE_H
#define NUIOA_MPI_COLL_REDUCE_H

#include "mpi/coll/comm.h"

/* Does MPI_Reduce of `count` elements of `type`, from `out` into the root's `in`, by the algorithm
 * `how`, for the operations and types that coll_op_is_plain (type.h) accepts. The arguments are
 * MPI's, already checked. All ranks of the communicator call it. Returns an MPI error code. */
int coll_reduce(struct coll_comm *c, const struct coll_algorithm *how, const void *out, void *in,
                int count, MPI_Datatype type, MPI_Op op, int root);

/* Does the same for MPI_Allreduce, which has no root: each rank's `in` gets the result. */
int coll_allreduce(struct coll_comm *c, const struct coll_algorithm *how, const void *out, void *in,
                   int count, MPI_Datatype type, MPI_Op op);

#endif
