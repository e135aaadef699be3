/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_TREE_H
#define NUIOA_MPI_COLL_TREE_H

#include <stdint.h>

#include "mpi/coll/map.h"

/* A tree tells each rank from which rank it receives data, and to which ranks it sends them on.
 * This file does not use MPI.
 *
 * The names of the shapes are those of R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of
 * Collective Communication Operations in MPICH", IJHPCA 19(1), 2005, and J. Pjesivac-Grbovic et
 * al., "Performance Analysis of MPI Collective Operations", Cluster Computing 10(2), 2007, where
 * they have these shapes. */

enum coll_shape {
    SHAPE_NONE,     /* as shape between nodes: data stay within the node */
    SHAPE_LINEAR,   /* a flat tree: the root sends to all others */
    SHAPE_BINOMIAL, /* a binomial tree */
    SHAPE_CHAIN,    /* a chain: each rank sends to the next one */
    /* these shapes are for use between nodes only */
    SHAPE_SPINE,   /* a chain whose second rank is the leader of the root's node */
    SHAPE_SCATTER, /* scatter to the leaders, then allgather among them; has no tree */
    SHAPE_FLAT,    /* one chain over all ranks, which enters each node at its leader */
    /* these shapes are for use within a node only */
    SHAPE_COMB, /* a chain of one rank of each NUMA node, from which a chain to its others begins */
    SHAPE_WINDOW, /* shared memory, with one copy on each NUMA node */
    SHAPE_COUNT
};

struct coll_algorithm {
    uint8_t pass;         /* 1: pass the call on to the MPI library */
    uint8_t inter, intra; /* enum coll_shape */
    uint8_t unused;
    uint32_t segment_bytes; /* 0: the message is not cut */
};

/* The tree as one rank sees it. The numbers are ranks of the communicator; -1: none. */
struct coll_tree {
    int parent;       /* the rank that sends messages to this rank */
    int child_count;  /* number of children */
    int source;       /* the rank whose shared memory this rank reads */
    int reader_count; /* number of readers */
    int *children;    /* [child_count]: ranks that get messages from this rank; those on other nodes
                       * first, and the largest subtree first */
    int *readers;     /* [reader_count]: ranks that read the shared memory of this rank */
};

/* Makes the tree with this root as the rank `me` sees it. `inter` is the shape between the leaders
 * of the nodes, `intra` the shape within each node, which SHAPE_FLAT does not use; both must be
 * shapes that have a tree. The root need not be a leader: it leads its node itself, except with
 * SHAPE_SPINE, where the leader of its node follows it. `rail` selects the leaders, as for
 * coll_map_leader (map.h). Returns 0 or -ENOMEM. In both cases the caller calls coll_tree_clear. */
int coll_tree_make(struct coll_tree *tree, const struct coll_map *map, enum coll_shape inter,
                   enum coll_shape intra, int root, int rail, int me);

/* Frees the arrays and makes *tree empty. */
void coll_tree_clear(struct coll_tree *tree);

/* Returns the rank that leads the node with the index `node` for this rail if `root` is the root:
 * the root itself on its own node, and the node's leader elsewhere. */
int coll_tree_entry(const struct coll_map *map, int node, int root, int rail);

#endif
