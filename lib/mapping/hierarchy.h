/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_HIERARCHY_H
#define NUIOA_MAPPING_HIERARCHY_H

#include "mapping/graph.h"

/* These functions derive the structure of the machine from the distances between classes of slots
 * (struct nuioa_class). class_count must not be 0. They fill *tree, whose arrays are from `arena`:
 * the caller frees them with it. They return 0 or -ENOMEM; after an error *tree is undefined. The
 * graph is only read. */

/* A binary tree of the classes. Nodes 0 .. class_count-1 are the classes; the last node is the
 * whole machine. The classes below `node` are order[first[node]] .. order[last[node]-1]. */
struct nuioa_binary_tree {
    uint32_t *left, *right; /* [2 * class_count - 1]: children; a class is its own child */
    uint32_t *first, *last; /* [2 * class_count - 1]: indexes in `order` */
    uint32_t *order;        /* [class_count]: the classes, subtree by subtree */
};

/* Builds the tree from the leaves up by average linkage: R. Sokal, C. Michener, "A Statistical
 * Method for Evaluating Systematic Relationships", 1958. It joins the two nearest clusters again
 * and again until one is left. */
int nuioa_binary_tree_join(const struct nuioa_graph *graph, struct nuioa_arena *arena,
                           struct nuioa_binary_tree *tree);

/* Builds another tree of the same classes from the root down: each part is split so that the sum of
 * distances between slots of one side is low, which also makes the sides about equal. `joined` is
 * the result of nuioa_binary_tree_join. If the machine is a tree, both results are alike; if its
 * links are a ring or a ladder, this one usually fits better. */
int nuioa_binary_tree_split(const struct nuioa_graph *graph, const struct nuioa_binary_tree *joined,
                            struct nuioa_arena *arena, struct nuioa_binary_tree *tree);

#endif
