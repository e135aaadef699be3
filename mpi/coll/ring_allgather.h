/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_RING_ALLGATHER_H
#define NUIOA_MPI_COLL_RING_ALLGATHER_H

#include "mpi/coll/comm.h"

/* Allgather of parts among the leaders of the nodes, the second half of a scatter-allgather
 * broadcast. Each part is then broadcast within its node. The leaders are numbered from the root's
 * node on, in the order of the nodes; the root leads its own node. Part p is the bytes displs[p] to
 * displs[p + 1] of `buffer`. At the beginning leader p has part p, and the root has all parts. */
struct coll_ring {
    int root;
    char *buffer;         /* [displs[node_count]]: receives all parts, on each rank */
    const size_t *displs; /* [node_count + 1], in bytes */
};

/* Does this allgather, so that each rank has all parts in its `buffer`. All ranks of the
 * communicator call it with the same numbers. Short parts go by the algorithm of Bruck et al.,
 * longer ones by a ring. Returns an MPI error code. */
int coll_ring_allgather(struct coll_comm *c, const struct coll_algorithm *how,
                        const struct coll_ring *ring);

#endif
