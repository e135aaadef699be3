/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_LAYOUT_H
#define NUIOA_MPI_COLL_LAYOUT_H

#include "mpi/coll/comm.h"

/* The program's buffer that has a block for each rank, as in MPI. If `same`, all blocks have
 * `count` elements and follow each other; else counts[] and displs[] describe them, in elements.
 * In a gather or scatter only the root has counts and displs. */
struct coll_blocks {
    bool same;
    void *buffer;
    int count;
    const int *counts, *displs;
    MPI_Datatype type;
};

/* The blocks of all ranks as bytes, ordered by node, so that the data of one leader are one piece.
 * If the program's buffer has this order already, it is used as it is. */
struct coll_layout {
    const struct coll_comm *c;
    const struct coll_blocks *blocks;
    size_t *displs; /* [size + 1]: bytes before each block, by index in map.ranks */
    char *data;
    bool direct; /* true: data is the program's buffer; false: data is allocated */
};

/* Makes the layout of these blocks; copies nothing. `c` and `blocks` must outlive it. Returns an
 * MPI error code. The caller calls coll_layout_close, also after an error. */
int coll_layout_open(struct coll_layout *layout, const struct coll_comm *c,
                     const struct coll_blocks *blocks);
void coll_layout_close(struct coll_layout *layout);

/* Return the block of this rank, which the layout owns, and its size in bytes. */
char *coll_layout_block(const struct coll_layout *layout, int rank);
size_t coll_layout_bytes(const struct coll_layout *layout, int rank);

/* Returns the blocks of a whole node, which the layout owns, and *bytes, their size. */
char *coll_layout_node(const struct coll_layout *layout, int node, size_t *bytes);

/* Copy between the program's buffer and the layout: `pack` into the layout, `unpack` out of it.
 * They copy one rank's block, or those of all ranks except `without`; -1 excepts none. If the
 * layout is direct, they copy nothing. They return an MPI error code. */
int coll_layout_pack(struct coll_layout *layout, int rank);
int coll_layout_unpack(struct coll_layout *layout, int rank);
int coll_layout_pack_all(struct coll_layout *layout, int without);
int coll_layout_unpack_all(struct coll_layout *layout, int without);

/* Fills sizes[], on `leader`, with the bytes of each rank of this node, in the node's order. All
 * ranks of the node call it, and sizes[] has room for all of them on each rank. `bytes` are those
 * of this rank. If `same`, all ranks have `bytes` and nothing is sent. Returns an MPI error
 * code. */
int coll_layout_sizes(struct coll_comm *c, int leader, bool same, size_t bytes, uint64_t *sizes);

#endif
