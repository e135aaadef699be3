/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/layout.h"

#include <stdlib.h>

#include "mpi/coll/type.h"

static int count_of(const struct coll_blocks *blocks, int rank)
{
    return blocks->same ? blocks->count : blocks->counts[rank];
}

static char *address_of(const struct coll_blocks *blocks, int rank)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(blocks->type, &low, &extent);
    MPI_Aint first = blocks->same ? (MPI_Aint)rank * blocks->count : blocks->displs[rank];
    return (char *)blocks->buffer + first * extent;
}

/* Returns whether the program's buffer has the order of the layout: the ranks of each node are
 * consecutive, and each block begins where the one before it ends. */
static bool is_direct(const struct coll_comm *c, const struct coll_blocks *blocks)
{
    if (!c->map.blocks || !coll_type_is_plain(blocks->buffer, blocks->type))
        return false;
    int64_t next = 0;
    for (int rank = 0; !blocks->same && rank < c->map.size; rank++) {
        if (blocks->displs[rank] != next)
            return false;
        next += count_of(blocks, rank);
    }
    return true;
}

int coll_layout_open(struct coll_layout *layout, const struct coll_comm *c,
                     const struct coll_blocks *blocks)
{
    int size = c->map.size;
    *layout = (struct coll_layout){ .c = c, .blocks = blocks };
    layout->displs = malloc(((size_t)size + 1) * sizeof(*layout->displs));
    if (!layout->displs)
        return MPI_ERR_NO_MEM;
    layout->displs[0] = 0;
    for (int i = 0; i < size; i++)
        layout->displs[i + 1] =
            layout->displs[i] + coll_bytes(count_of(blocks, c->map.ranks[i]), blocks->type);
    layout->direct = is_direct(c, blocks);
    layout->data = layout->direct ? blocks->buffer : malloc(layout->displs[size] + 1);
    return layout->data ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void coll_layout_close(struct coll_layout *layout)
{
    if (!layout->direct)
        free(layout->data);
    free(layout->displs);
    *layout = (struct coll_layout){ 0 };
}

static int index_of(const struct coll_layout *layout, int rank)
{
    const struct coll_map *map = &layout->c->map;
    return map->first[map->node[rank]] + map->local[rank];
}

char *coll_layout_block(const struct coll_layout *layout, int rank)
{
    return layout->data + layout->displs[index_of(layout, rank)];
}

size_t coll_layout_bytes(const struct coll_layout *layout, int rank)
{
    int index = index_of(layout, rank);
    return layout->displs[index + 1] - layout->displs[index];
}

char *coll_layout_node(const struct coll_layout *layout, int node, size_t *bytes)
{
    const int *first = layout->c->map.first;
    *bytes = layout->displs[first[node + 1]] - layout->displs[first[node]];
    return layout->data + layout->displs[first[node]];
}

int coll_layout_pack(struct coll_layout *layout, int rank)
{
    return layout->direct
               ? MPI_SUCCESS
               : coll_pack(address_of(layout->blocks, rank), count_of(layout->blocks, rank),
                           layout->blocks->type, coll_layout_block(layout, rank));
}

int coll_layout_unpack(struct coll_layout *layout, int rank)
{
    return layout->direct
               ? MPI_SUCCESS
               : coll_unpack(coll_layout_block(layout, rank), address_of(layout->blocks, rank),
                             count_of(layout->blocks, rank), layout->blocks->type);
}

int coll_layout_pack_all(struct coll_layout *layout, int without)
{
    int rc = MPI_SUCCESS;
    for (int rank = 0; rank < layout->c->map.size && rc == MPI_SUCCESS; rank++)
        if (rank != without)
            rc = coll_layout_pack(layout, rank);
    return rc;
}

int coll_layout_unpack_all(struct coll_layout *layout, int without)
{
    int rc = MPI_SUCCESS;
    for (int rank = 0; rank < layout->c->map.size && rc == MPI_SUCCESS; rank++)
        if (rank != without)
            rc = coll_layout_unpack(layout, rank);
    return rc;
}

int coll_layout_sizes(struct coll_comm *c, int leader, bool same, size_t bytes, uint64_t *sizes)
{
    uint64_t own = bytes;
    for (int i = 0; same && i < coll_map_count(&c->map, c->map.node[c->me]); i++)
        sizes[i] = bytes;
    return same ? MPI_SUCCESS
                : PMPI_Gather(&own, 1, MPI_UINT64_T, sizes, 1, MPI_UINT64_T, c->map.local[leader],
                              c->node);
}
