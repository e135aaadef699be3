/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_HIERARCHY_H
#define NUIOA_MAPPING_HIERARCHY_H

#include "mapping/graph.h"

/* The machine as the distances between classes tell it: near ones joined first. */

/* A binary tree. Nodes 0 .. class_count-1 are the classes, later ones join two earlier ones, the
 * last is the whole machine. The classes below `node` are order[first[node]] ..
 * order[last[node]-1]. */
struct nuioa_halves {
    uint32_t *left, *right; /* [2 * class_count - 1]; of a class: itself */
    uint32_t *first, *last; /* [2 * class_count - 1] */
    uint32_t *order;        /* [class_count] */
};

/* Arrays are taken from `arena`. class_count must not be 0. 0 or -ENOMEM. */
int nuioa_halves_make(const struct nuioa_graph *graph, struct nuioa_arena *arena,
                      struct nuioa_halves *halves);

/* Another tree of the same classes: from the root down each part is split so that those on one side
 * are as near each other as can be, seat by seat, which makes the sides about equal. On a machine
 * that is a tree this is the same; on one with a ring or a ladder of links it is the better
 * guess. */
int nuioa_halves_split(const struct nuioa_graph *graph, const struct nuioa_halves *joined,
                       struct nuioa_arena *arena, struct nuioa_halves *halves);

/* A tree of equal costs: at each level, classes that reach each other over distances up to that
 * level's are together. arity[0] is that of the root; the last one is the most seats of any class.
 * order[class_count] lists the classes subtree by subtree. */
struct nuioa_levels {
    uint32_t count;
    uint32_t *arity;
    uint32_t *order;
};

int nuioa_levels_make(const struct nuioa_graph *graph, struct nuioa_arena *arena,
                      struct nuioa_levels *levels);

#endif
