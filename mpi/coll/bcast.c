/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/bcast.h"

#include <stdlib.h>

#include "mpi/coll/pipelined_bcast.h"
#include "mpi/coll/ring_allgather.h"
#include "mpi/coll/type.h"

/* Hierarchical broadcast (Goglin and Moreaud 2011, section 3.3.1): the root sends itself, and all
 * other nodes receive in their leader, which is beside the NIC. With several rails there is a tree
 * for each rail, and the segments use the trees in turn. */
static int by_trees(struct coll_comm *c, const struct coll_algorithm *how, char *buffer,
                    size_t bytes, int root)
{
    struct coll_tree trees[COLL_RAIL_MAX];
    enum coll_shape intra = how->intra;
    int made = 0, rc = MPI_SUCCESS;
    if (intra == SHAPE_WINDOW && how->inter != SHAPE_FLAT && !coll_comm_window(c))
        intra = SHAPE_CHAIN;
    for (; made < c->map.rail_count && rc == MPI_SUCCESS; made++)
        if (coll_tree_make(&trees[made], &c->map, how->inter, intra, root, made, c->me) < 0)
            rc = MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS)
        rc = coll_pipelined_bcast(c, trees, made, how, buffer, bytes);
    while (made--)
        coll_tree_clear(&trees[made]);
    return rc;
}

/* Scatter-allgather broadcast among the leaders (M. Barnett et al., "Interprocessor Collective
 * Communication Library (InterCom)", SHPCC 1994): the root sends one part to each leader, then the
 * leaders exchange the parts. */
static int by_scatter(struct coll_comm *c, const struct coll_algorithm *how, char *buffer,
                      size_t bytes, int root)
{
    size_t count = (size_t)c->map.node_count;
    size_t *displs = malloc((count + 1) * sizeof(*displs));
    MPI_Request *sends = malloc(count * sizeof(*sends));
    int node = c->map.node[root], sent = 0, rc = MPI_ERR_NO_MEM;
    if (displs && sends) {
        rc = MPI_SUCCESS;
        for (size_t i = 0; i <= count; i++)
            displs[i] = bytes * i / count;
        for (int i = 1; i < (int)count && rc == MPI_SUCCESS; i++) {
            int leader = coll_tree_entry(&c->map, (node + i) % (int)count, root, 0);
            size_t size = displs[i + 1] - displs[i];
            if (c->me == root && size)
                rc = PMPI_Isend(buffer + displs[i], (int)size, MPI_BYTE, leader, COLL_TAG, c->own,
                                &sends[sent++]);
            if (c->me == leader && size)
                rc = PMPI_Recv(buffer + displs[i], (int)size, MPI_BYTE, root, COLL_TAG, c->own,
                               MPI_STATUS_IGNORE);
        }
        struct coll_ring ring = { root, buffer, displs };
        if (rc == MPI_SUCCESS)
            rc = coll_ring_allgather(c, how, &ring);
        int end = PMPI_Waitall(sent, sends, MPI_STATUSES_IGNORE);
        rc = rc == MPI_SUCCESS ? end : rc;
    }
    free(displs);
    free(sends);
    return rc;
}

int coll_bcast(struct coll_comm *c, const struct coll_algorithm *how, void *buffer, int count,
               MPI_Datatype type, int root)
{
    struct coll_view view;
    enum coll_access access = c->me == root ? COLL_READ : COLL_WRITE;
    int rc = coll_view_open(&view, buffer, count, type, access);
    if (rc != MPI_SUCCESS)
        return rc;
    if (how->inter == SHAPE_SCATTER)
        rc = by_scatter(c, how, view.data, view.bytes, root);
    else
        rc = by_trees(c, how, view.data, view.bytes, root);
    int end = coll_view_close(&view, access);
    return rc == MPI_SUCCESS ? end : rc;
}
