/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_TREE_H
#define NUIOA_MPI_COLL_TREE_H

#include <stdint.h>

#include "mpi/coll/map.h"

/* Which way data go: from whom a rank receives, to whom it passes on. Pure: no MPI here. A
 * reduction goes the same way backwards. */

enum coll_shape {
    SHAPE_NONE, /* between nodes: only within the node */
    SHAPE_LINEAR,
    SHAPE_BINOMIAL,
    SHAPE_CHAIN,
    /* only between nodes */
    SHAPE_SPINE,   /* a chain that leaves the root's node through its leader, not from the root */
    SHAPE_SCATTER, /* each leader gets a part, then all parts: no tree of its own */
    SHAPE_RING,    /* likewise, for parts that are on the nodes already */
    SHAPE_RELAY,   /* gather: enters the root's node beside its NIC */
    SHAPE_FLAT,    /* one chain over all ranks: each node is entered beside its NIC and walked */
    /* only within a node */
    SHAPE_COMB,   /* a chain of one rank of each NUMA node, each with a chain of its mates */
    SHAPE_WINDOW, /* shared memory: one copy for each NUMA node */
    SHAPE_COUNT
};

struct coll_algorithm {
    uint8_t pass;         /* the MPI library's own */
    uint8_t inter, intra; /* enum coll_shape */
    uint8_t unused;
    uint32_t segment_bytes; /* 0: the message is not cut */
};

/* Ranks of the communicator; -1: nobody. */
struct coll_tree {
    int parent; /* by messages */
    int child_count;
    int source; /* by shared memory */
    int reader_count;
    int *children; /* those on other nodes first, largest subtree first */
    int *readers;
};

/* The place of `me` in the tree that begins at `root`, which need not be a leader: the node of the
 * root is led by the root, except in a spine, where its leader comes right after it. `inter` and
 * `intra` must be shapes with a tree. -ENOMEM; freed by coll_tree_clear. */
int coll_tree_make(struct coll_tree *tree, const struct coll_map *map, enum coll_shape inter,
                   enum coll_shape intra, int root, int rail, int me);
void coll_tree_clear(struct coll_tree *tree);

/* Who leads `node` when `root` is the root. */
int coll_tree_entry(const struct coll_map *map, int node, int root, int rail);

#endif
