/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/scatter.h"

#include <stdlib.h>

#include "mpi/coll/pipelined_bcast.h"
#include "mpi/coll/type.h"

/* Hierarchical scatter: the root sends one message to each node's leader, which sends the blocks on
 * to the other ranks of its node. */

struct scatter {
    struct coll_comm *c;
    int root, node, leader;
};

static int send_all(const struct scatter *s, const struct coll_layout *layout)
{
    const struct coll_map *map = &s->c->map;
    int count = coll_map_count(map, s->node), used = 0, rc = MPI_SUCCESS;
    MPI_Request *sends = malloc((size_t)(count + map->node_count) * sizeof(*sends));
    if (!sends)
        return MPI_ERR_NO_MEM;
    for (int node = 0; node < map->node_count && rc == MPI_SUCCESS; node++) {
        size_t bytes;
        char *data = coll_layout_node(layout, node, &bytes);
        if (node != s->node)
            rc = PMPI_Isend(data, (int)bytes, MPI_BYTE, coll_map_leader(map, 0, node), COLL_TAG,
                            s->c->own, &sends[used++]);
    }
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        int rank = map->ranks[map->first[s->node] + i];
        if (rank != s->root)
            rc = PMPI_Isend(coll_layout_block(layout, rank), (int)coll_layout_bytes(layout, rank),
                            MPI_BYTE, rank, COLL_TAG, s->c->own, &sends[used++]);
    }
    int end = PMPI_Waitall(used, sends, MPI_STATUSES_IGNORE);
    free(sends);
    return rc == MPI_SUCCESS ? end : rc;
}

static int at_root(const struct scatter *s, const struct coll_blocks *out, void *in, int count,
                   MPI_Datatype type)
{
    struct coll_layout layout;
    bool in_place = in == MPI_IN_PLACE;
    int rc = coll_layout_open(&layout, s->c, out);
    if (rc == MPI_SUCCESS)
        rc = coll_layout_pack_all(&layout, in_place ? s->root : -1);
    if (rc == MPI_SUCCESS)
        rc = send_all(s, &layout);
    if (rc == MPI_SUCCESS && !in_place)
        rc = coll_unpack(coll_layout_block(&layout, s->root), in, count, type);
    coll_layout_close(&layout);
    return rc;
}

static int hand_out(const struct scatter *s, char *data, const uint64_t *sizes, char *own)
{
    const struct coll_map *map = &s->c->map;
    int count = coll_map_count(map, s->node), rc = MPI_SUCCESS;
    for (int i = 0; i < count && rc == MPI_SUCCESS; data += sizes[i++]) {
        int rank = map->ranks[map->first[s->node] + i];
        if (rank == s->c->me)
            rc = coll_unpack(data, own, (int)sizes[i], MPI_BYTE);
        else
            rc = PMPI_Send(data, (int)sizes[i], MPI_BYTE, rank, COLL_TAG, s->c->own);
    }
    return rc;
}

static int lead(const struct scatter *s, const uint64_t *sizes, char *own)
{
    size_t total = 0;
    for (int i = 0; i < coll_map_count(&s->c->map, s->node); i++)
        total += sizes[i];
    char *data = malloc(total + 1);
    if (!data)
        return MPI_ERR_NO_MEM;
    int rc = PMPI_Recv(data, (int)total, MPI_BYTE, s->root, COLL_TAG, s->c->own, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        rc = hand_out(s, data, sizes, own);
    free(data);
    return rc;
}

static int receive(const struct scatter *s, const struct coll_view *own, bool same)
{
    struct coll_comm *c = s->c;
    if (s->node == c->map.node[s->root])
        return PMPI_Recv(own->data, (int)own->bytes, MPI_BYTE, s->root, COLL_TAG, c->own,
                         MPI_STATUS_IGNORE);
    uint64_t *sizes = malloc((size_t)coll_map_count(&c->map, s->node) * sizeof(*sizes));
    int rc = sizes ? coll_layout_sizes(c, s->leader, same, own->bytes, sizes) : MPI_ERR_NO_MEM;
    if (rc == MPI_SUCCESS && c->me == s->leader)
        rc = lead(s, sizes, own->data);
    else if (rc == MPI_SUCCESS)
        rc = PMPI_Recv(own->data, (int)own->bytes, MPI_BYTE, s->leader, COLL_TAG, c->own,
                       MPI_STATUS_IGNORE);
    free(sizes);
    return rc;
}

int coll_scatter(struct coll_comm *c, const struct coll_algorithm *how,
                 const struct coll_blocks *out, void *in, int count, MPI_Datatype type, int root)
{
    struct scatter s = { .c = c, .root = root, .node = c->map.node[c->me] };
    struct coll_view own;
    (void)how;
    s.leader = coll_tree_entry(&c->map, s.node, root, 0);
    if (c->me == root)
        return at_root(&s, out, in, count, type);
    int rc = coll_view_open(&own, in, count, type, COLL_WRITE);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = receive(&s, &own, out->same);
    int end = coll_view_close(&own, COLL_WRITE);
    return rc == MPI_SUCCESS ? end : rc;
}
