/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_PIPELINED_H
#define NUIOA_MPI_COLL_PIPELINED_H

#include "mpi/coll/comm.h"

/* Data through a tree, cut into segments that overlap: while one is received, the one before it is
 * passed on. Collective over the ranks that have a place in the tree, which all call with the same
 * sizes. Return MPI error codes. */

#define COLL_AHEAD 4 /* receives posted, of one tree: a slot of the window each */
#define COLL_SENDS \
    1 /* segments under way to one child: more would share the wire, and the first
                      * arrive later, at each hop of a chain */
#define COLL_DIRECT_BYTES \
    65536 /* from here on a segment waits for its receiver, whatever the MPI
                                 * takes for small: it goes straight to where it belongs, and
                                 * a slow rank holds back those before it */
#define COLL_TAG 1

/* The segment that is really used: the slots of a window limit it. */
size_t coll_pipelined_segment(const struct coll_algorithm *how, size_t bytes);

/* From the root's buffer into everybody's. Segment k goes through trees[k % tree_count], each at
 * its own pace: a rank that is early in one and late in another holds up neither. Not with windows,
 * whose slots are taken in order. */
int coll_pipelined_bcast(struct coll_comm *c, const struct coll_tree *trees, int tree_count,
                         const struct coll_algorithm *how, char *buffer, size_t bytes);

/* The same within this node only, from `entry`. */
int coll_pipelined_bcast_node(struct coll_comm *c, const struct coll_algorithm *how, int entry,
                              char *buffer, size_t bytes);

/* What all have in `own`, combined into the root's `into`; `own` may be `into` there. */
struct coll_sum {
    const char *own;
    char *into; /* only where the tree begins */
    int count;
    MPI_Datatype type;
    MPI_Aint extent;
    MPI_Op op;
};
int coll_pipelined_reduce(struct coll_comm *c, const struct coll_tree *tree,
                          const struct coll_sum *sum, size_t segment);

/* Parts of `buffer` that all leaders get, round a ring or, while they are short, by doubling; each
 * is then spread in its node. Part p belongs to the p-th leader from `root`'s node on: displs[p] to
 * displs[p + 1]. At the beginning leader p has part p - first; the root has all of them if
 * `root_has_all`. */
struct coll_ring {
    int root; /* leads its node; -1: the usual leaders, counted from node 0 */
    int first;
    bool root_has_all;
    char *buffer;
    const size_t *displs; /* [node_count + 1] */
};
int coll_ring_allgather(struct coll_comm *c, const struct coll_algorithm *how,
                        const struct coll_ring *ring);

#endif
