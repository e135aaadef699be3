/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/allgather.h"

#include <stdlib.h>

#include "mpi/coll/ring_allgather.h"
#include "mpi/coll/pipelined_bcast.h"
#include "mpi/coll/type.h"

/* Hierarchical allgather (Goglin and Moreaud 2011, section 3.3.3): the leader of each node gathers
 * the blocks of its node, the leaders exchange them, and each leader broadcasts them within its
 * node. All that comes from the network goes to ranks beside the NIC. */

static int collect(struct coll_comm *c, const struct coll_layout *layout, int leader)
{
    const struct coll_map *map = &c->map;
    int node = map->node[c->me], count = coll_map_count(map, node), rc = MPI_SUCCESS;
    if (c->me != leader)
        return PMPI_Send(coll_layout_block(layout, c->me), (int)coll_layout_bytes(layout, c->me),
                         MPI_BYTE, leader, COLL_TAG, c->own);
    MPI_Request *receives = malloc((size_t)count * sizeof(*receives));
    if (!receives)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < count; i++) {
        int rank = map->ranks[map->first[node] + i];
        receives[i] = MPI_REQUEST_NULL;
        if (rank != c->me && rc == MPI_SUCCESS)
            rc = PMPI_Irecv(coll_layout_block(layout, rank), (int)coll_layout_bytes(layout, rank),
                            MPI_BYTE, rank, COLL_TAG, c->own, &receives[i]);
    }
    int end = PMPI_Waitall(count, receives, MPI_STATUSES_IGNORE);
    free(receives);
    return rc == MPI_SUCCESS ? end : rc;
}

static int exchange(struct coll_comm *c, const struct coll_algorithm *how,
                    const struct coll_layout *layout)
{
    int count = c->map.node_count;
    size_t *displs = malloc(((size_t)count + 1) * sizeof(*displs));
    if (!displs)
        return MPI_ERR_NO_MEM;
    for (int node = 0; node <= count; node++)
        displs[node] = layout->displs[c->map.first[node]];
    struct coll_ring ring = { -1, 0, false, layout->data, displs };
    int rc = coll_ring_allgather(c, how, &ring);
    free(displs);
    return rc;
}

int coll_allgather(struct coll_comm *c, const struct coll_algorithm *how, const void *out,
                   int count, MPI_Datatype type, const struct coll_blocks *in)
{
    struct coll_layout layout;
    int leader = coll_map_leader(&c->map, 0, c->map.node[c->me]);
    int rc = coll_layout_open(&layout, c, in);
    if (rc == MPI_SUCCESS)
        rc = out == MPI_IN_PLACE ? coll_layout_pack(&layout, c->me)
                                 : coll_pack(out, count, type, coll_layout_block(&layout, c->me));
    if (rc == MPI_SUCCESS)
        rc = collect(c, &layout, leader);
    if (rc == MPI_SUCCESS)
        rc = exchange(c, how, &layout);
    if (rc == MPI_SUCCESS)
        rc = coll_layout_unpack_all(&layout, -1);
    coll_layout_close(&layout);
    return rc;
}
