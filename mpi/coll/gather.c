/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/gather.h"

#include <stdlib.h>

#include "mpi/coll/pipelined_bcast.h"
#include "mpi/coll/type.h"

/* Hierarchical gather: each node's leader sends one message to the root. This does not help a root
 * that is far from the NIC (Goglin and Moreaud 2011, section 3.3.2). So with SHAPE_RELAY the leader
 * of the root's node receives the messages and passes them on to the root. */

struct gather {
    struct coll_comm *c;
    int root, node; /* the node is this rank's */
    int leader;     /* the leader of this rank's node; on the root's node the root */
    int relay;      /* the rank that receives from the other nodes; may be the root */
};

/* The leader receives the blocks of its node and sends them on in one message. */
static int lead(const struct gather *g, const char *own, size_t bytes, const uint64_t *sizes)
{
    const struct coll_map *map = &g->c->map;
    int count = coll_map_count(map, g->node), rc = MPI_SUCCESS;
    size_t total = 0, place = 0;
    for (int i = 0; i < count; i++)
        total += sizes[i];
    char *data = malloc(total + 1);
    if (!data)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < count && rc == MPI_SUCCESS; place += sizes[i++]) {
        int rank = map->ranks[map->first[g->node] + i];
        if (rank == g->c->me)
            rc = coll_pack(own, (int)bytes, MPI_BYTE, data + place);
        else
            rc = PMPI_Recv(data + place, (int)sizes[i], MPI_BYTE, rank, COLL_TAG, g->c->own,
                           MPI_STATUS_IGNORE);
    }
    if (rc == MPI_SUCCESS)
        rc = PMPI_Send(data, (int)total, MPI_BYTE, g->relay, COLL_TAG, g->c->own);
    free(data);
    return rc;
}

static int hand_in(const struct gather *g, const struct coll_view *own, bool same)
{
    struct coll_comm *c = g->c;
    bool at_root = g->node == c->map.node[g->root];
    int rc = MPI_SUCCESS;
    uint64_t *sizes = NULL;
    if (!at_root) {
        sizes = malloc((size_t)coll_map_count(&c->map, g->node) * sizeof(*sizes));
        rc = sizes ? coll_layout_sizes(c, g->leader, same, own->bytes, sizes) : MPI_ERR_NO_MEM;
    }
    if (rc == MPI_SUCCESS && !at_root && g->leader == c->me)
        rc = lead(g, own->data, own->bytes, sizes);
    else if (rc == MPI_SUCCESS)
        rc = PMPI_Send(own->data, (int)own->bytes, MPI_BYTE, at_root ? g->root : g->leader,
                       COLL_TAG, c->own);
    free(sizes);
    return rc;
}

/* Receives from the other nodes, in their order, and sends their data on to the root. */
static int pass_on(const struct gather *g)
{
    struct coll_comm *c = g->c;
    int rc = MPI_SUCCESS;
    for (int node = 0; node < c->map.node_count && rc == MPI_SUCCESS; node++) {
        int from = coll_map_leader(&c->map, 0, node), bytes;
        MPI_Status status;
        if (node == g->node)
            continue;
        rc = PMPI_Probe(from, COLL_TAG, c->own, &status);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Get_count(&status, MPI_BYTE, &bytes);
        char *data = rc == MPI_SUCCESS ? malloc((size_t)bytes + 1) : NULL;
        if (!data)
            return rc == MPI_SUCCESS ? MPI_ERR_NO_MEM : rc;
        rc = PMPI_Recv(data, bytes, MPI_BYTE, from, COLL_TAG, c->own, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Send(data, bytes, MPI_BYTE, g->root, COLL_TAG, c->own);
        free(data);
    }
    return rc;
}

/* The order of messages matters for the relay only: it sends its own block before those of
 * others. */
static int receive_all(const struct gather *g, const struct coll_layout *layout)
{
    const struct coll_map *map = &g->c->map;
    int count = coll_map_count(map, g->node), used = 0, rc = MPI_SUCCESS;
    MPI_Request *receives = malloc((size_t)(count + map->node_count) * sizeof(*receives));
    if (!receives)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        int rank = map->ranks[map->first[g->node] + i];
        if (rank != g->root)
            rc = PMPI_Irecv(coll_layout_block(layout, rank), (int)coll_layout_bytes(layout, rank),
                            MPI_BYTE, rank, COLL_TAG, g->c->own, &receives[used++]);
    }
    for (int node = 0; node < map->node_count && rc == MPI_SUCCESS; node++) {
        size_t bytes;
        char *data = coll_layout_node(layout, node, &bytes);
        int from = g->relay == g->root ? coll_map_leader(map, 0, node) : g->relay;
        if (node != g->node)
            rc = PMPI_Irecv(data, (int)bytes, MPI_BYTE, from, COLL_TAG, g->c->own,
                            &receives[used++]);
    }
    int end = PMPI_Waitall(used, receives, MPI_STATUSES_IGNORE);
    free(receives);
    return rc == MPI_SUCCESS ? end : rc;
}

static int at_root(const struct gather *g, const void *out, int count, MPI_Datatype type,
                   const struct coll_blocks *in)
{
    struct coll_layout layout;
    int rc = coll_layout_open(&layout, g->c, in);
    if (rc == MPI_SUCCESS && out != MPI_IN_PLACE)
        rc = coll_pack(out, count, type, coll_layout_block(&layout, g->root));
    if (rc == MPI_SUCCESS)
        rc = receive_all(g, &layout);
    if (rc == MPI_SUCCESS)
        rc = coll_layout_unpack_all(&layout, out == MPI_IN_PLACE ? g->root : -1);
    coll_layout_close(&layout);
    return rc;
}

int coll_gather(struct coll_comm *c, const struct coll_algorithm *how, const void *out, int count,
                MPI_Datatype type, const struct coll_blocks *in, int root)
{
    struct coll_view own;
    struct gather g = { .c = c, .root = root, .node = c->map.node[c->me] };
    g.leader = coll_tree_entry(&c->map, g.node, root, 0);
    g.relay = how->inter == SHAPE_RELAY ? coll_map_leader(&c->map, 0, c->map.node[root]) : root;
    if (c->me == root)
        return at_root(&g, out, count, type, in);
    int rc = coll_view_open(&own, out, count, type, COLL_READ);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = hand_in(&g, &own, in->same);
    if (rc == MPI_SUCCESS && c->me == g.relay)
        rc = pass_on(&g);
    int end = coll_view_close(&own, COLL_READ);
    return rc == MPI_SUCCESS ? end : rc;
}
