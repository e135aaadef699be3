/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_LAYOUT_H
#define NUIOA_MPI_COLL_LAYOUT_H

#include "mpi/coll/comm.h"

/* The program's buffer that has a block for each rank, as in MPI. If `same`, all blocks have
 * `count` elements and follow each other; else counts[] and displs[] describe them, in elements.
 * In a gather or scatter only the root has counts and displs. */
struct coll_blocks {
    bool same;                  /* all blocks are equal: `count` is used, not counts and displs */
    void *buffer;               /* the program's */
    int count;                  /* elements of each block */
    const int *counts, *displs; /* [size], by rank: the program's */
    MPI_Datatype type;          /* of the elements */
};

/* The blocks of all ranks as bytes, ordered by node, so that the data of one leader are one piece.
 * If the program's buffer has this order already, it is used as it is. */
struct coll_layout {
    const struct coll_comm *c;
    const struct coll_blocks *blocks;
    size_t *displs; /* [size + 1]: bytes before each block, by index in map.ranks */
    char *data;     /* [displs[size]]: all blocks */
    bool direct;    /* true: data is the program's buffer; false: data is allocated */
};

/* Makes the layout of these blocks for the communicator `c`, which is READY; copies nothing. `c`
 * and `blocks` must outlive it. Returns MPI_SUCCESS or MPI_ERR_NO_MEM. The caller calls
 * coll_layout_close in both cases. */
int coll_layout_open(struct coll_layout *layout, const struct coll_comm *c,
                     const struct coll_blocks *blocks);

/* Frees what the layout owns and makes it all zeros. The program's buffer stays as it is. */
void coll_layout_close(struct coll_layout *layout);

/* Returns the block of the rank `rank` in layout->data. The layout owns it, until
 * coll_layout_close. */
char *coll_layout_block(const struct coll_layout *layout, int rank);

/* Returns the size of that block in bytes. */
size_t coll_layout_bytes(const struct coll_layout *layout, int rank);

/* Returns the blocks of all ranks of the node with the index `node`, which follow each other in
 * layout->data, and *bytes, their size together. The layout owns them. */
char *coll_layout_node(const struct coll_layout *layout, int node, size_t *bytes);

/* Copies the block of one rank from the program's buffer into the layout. If the layout is direct,
 * this function and the next three copy nothing. Returns an MPI error code. */
int coll_layout_pack(struct coll_layout *layout, int rank);

/* Copies the block of one rank from the layout into the program's buffer. Returns an MPI error
 * code. */
int coll_layout_unpack(struct coll_layout *layout, int rank);

/* Copies the blocks of all ranks except `without` into the layout; -1 excepts none. Returns an MPI
 * error code. */
int coll_layout_pack_all(struct coll_layout *layout, int without);

/* Copies the blocks of all ranks except `without` into the program's buffer; -1 excepts none.
 * Returns an MPI error code. */
int coll_layout_unpack_all(struct coll_layout *layout, int without);

/* Fills sizes[], on the rank `leader` of this node, with the size in bytes of the block of each
 * rank of this node, in the node's order. All ranks of the node call it, and the caller allocates
 * sizes[] for all of them on each rank. `bytes` is the size on this rank. If `same`, all ranks have
 * `bytes`, nothing is sent and sizes[] is filled on each rank. Returns an MPI error code. */
int coll_layout_sizes(struct coll_comm *c, int leader, bool same, size_t bytes, uint64_t *sizes);

#endif
