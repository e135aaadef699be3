/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_PIPELINED_REDUCE_H
#define NUIOA_MPI_COLL_PIPELINED_REDUCE_H

#include "mpi/coll/comm.h"

/* A reduction. The elements in the `own` of all ranks are combined into the root's `into`. On the
 * root `own` may be `into`. */
struct coll_sum {
    const char *own;   /* [count], this rank's elements; the program's buffer */
    char *into;        /* [count], for the result; used by the root of the tree only */
    int count;         /* number of elements */
    MPI_Datatype type; /* a type without gaps */
    MPI_Aint extent;   /* bytes of an element */
    MPI_Op op;         /* a commutative operation */
};

/* Does the reduction *sum, which has at least one element, through a tree in segments of `segment`
 * bytes, but at least one element, from the leaves to the root. All ranks of the tree call it with
 * the same sizes. Returns an MPI error code. */
int coll_pipelined_reduce(struct coll_comm *c, const struct coll_tree *tree,
                          const struct coll_sum *sum, size_t segment);

#endif
