/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_LAYOUT_H
#define NUIOA_MPI_COLL_LAYOUT_H

#include "mpi/coll/comm.h"

/* The blocks of all ranks as bytes, node by node, so that what one leader sends or receives is one
 * piece. Where the program's buffer already is so, it is used as it is. */
struct coll_layout {
    const struct coll_comm *c;
    const struct coll_blocks *blocks;
    size_t *displs; /* [size + 1], by place in map.ranks */
    char *data;
    bool direct; /* data is the program's buffer */
};

/* MPI error codes; coll_layout_close also after an error. */
int coll_layout_open(struct coll_layout *layout, const struct coll_comm *c,
                     const struct coll_blocks *blocks);
void coll_layout_close(struct coll_layout *layout);

char *coll_layout_block(const struct coll_layout *layout, int rank);
size_t coll_layout_bytes(const struct coll_layout *layout, int rank);

/* Of a whole node. */
char *coll_layout_node(const struct coll_layout *layout, int node, size_t *bytes);

/* From and to the program's buffer: one rank's block, or those of all ranks but `without`. */
int coll_layout_pack(struct coll_layout *layout, int rank);
int coll_layout_unpack(struct coll_layout *layout, int rank);
int coll_layout_pack_all(struct coll_layout *layout, int without);
int coll_layout_unpack_all(struct coll_layout *layout, int without);

/* How many bytes each rank of this node has, in the node's order, told to `leader` (of this node):
 * sizes[node's ranks]. Where all have `bytes`, `same` says so and nothing is sent. Collective over
 * the node. */
int coll_layout_sizes(struct coll_comm *c, int leader, bool same, size_t bytes, uint64_t *sizes);

#endif
