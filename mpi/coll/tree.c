/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/tree.h"

#include <errno.h>
#include <stdlib.h>

int coll_tree_entry(const struct coll_map *map, int node, int root, int rail)
{
    return node == map->node[root] ? root : coll_map_leader(map, rail, node);
}

static void add_child(struct coll_tree *tree, int rank)
{
    tree->children[tree->child_count++] = rank;
}

/* Finds the parent and the children of the rank at `index` in a line of ranks that begins at the
 * root. */
static void join(struct coll_tree *tree, enum coll_shape shape, const int *line, int count,
                 int index)
{
    int mask = 1;
    switch (shape) {
    case SHAPE_LINEAR:
        if (index > 0)
            tree->parent = line[0];
        for (int i = 1; index == 0 && i < count; i++)
            add_child(tree, line[i]);
        break;
    case SHAPE_BINOMIAL:
        while (mask < count && !(index & mask))
            mask <<= 1;
        if (index > 0)
            tree->parent = line[index - mask];
        for (mask >>= 1; mask > 0; mask >>= 1)
            if (index + mask < count)
                add_child(tree, line[index + mask]);
        break;
    default: /* a chain */
        if (index > 0)
            tree->parent = line[index - 1];
        if (index + 1 < count)
            add_child(tree, line[index + 1]);
    }
}

/* Returns whether the rank at `index` is the first of its NUMA node in the walk through the
 * node. */
static bool begins(const struct coll_map *map, const int *walk, int index)
{
    return index == 0 || map->records[walk[index]].numa != map->records[walk[index - 1]].numa;
}

/* The memory of each NUMA node is read as often as in a chain through the same walk, and the last
 * rank gets its data sooner. */
static void join_comb(struct coll_tree *tree, const struct coll_map *map, const int *walk,
                      int count, int index)
{
    int head = index, before = index - 1, next = index + 1;
    while (!begins(map, walk, head))
        head--;
    while (before > 0 && !begins(map, walk, before))
        before--;
    while (next < count && !begins(map, walk, next))
        next++;
    if (index > 0)
        tree->parent = walk[index == head ? before : index - 1];
    if (index == head && next < count)
        add_child(tree, walk[next]);
    if (index + 1 < next)
        add_child(tree, walk[index + 1]);
}

static int index_of(const int *line, int count, int rank)
{
    for (int i = 0; i < count; i++)
        if (line[i] == rank)
            return i;
    return -1;
}

/* The first rank of each NUMA node reads from the memory of the first rank of the walk. The others
 * read from the memory of the first rank of their NUMA node. */
static void share(struct coll_tree *tree, const struct coll_map *map, const int *walk, int count,
                  int me)
{
    int entry = walk[0], head = entry;
    for (int i = 1; i < count; i++) {
        int rank = walk[i], from = head;
        if (map->records[rank].numa == map->records[entry].numa) {
            from = head = entry;
        } else if (map->records[rank].numa != map->records[head].numa) {
            from = entry;
            head = rank;
        }
        if (rank == me)
            tree->source = from;
        if (from == me)
            tree->readers[tree->reader_count++] = rank;
    }
}

/* The arguments of a tree. `through` is the leader of the root's node if the shape is SHAPE_SPINE
 * and this leader is not the root; else -1. */
struct plan {
    const struct coll_map *map;
    int root, rail, through;
};

static int entry_of(const struct plan *plan, int node)
{
    if (plan->through >= 0 && node == plan->map->node[plan->root])
        return plan->through;
    return coll_tree_entry(plan->map, node, plan->root, plan->rail);
}

/* Lists the leaders in the order of their nodes, beginning with the root's node. */
static int list_entries(const struct plan *plan, int *line)
{
    const struct coll_map *map = plan->map;
    for (int i = 0; i < map->node_count; i++)
        line[i] = entry_of(plan, (map->node[plan->root] + i) % map->node_count);
    return map->node_count;
}

static int list_node(const struct plan *plan, int node, bool same_numa_last, int *line)
{
    bool here = plan->through >= 0 && node == plan->map->node[plan->root];
    return coll_map_walk(plan->map, here ? plan->root : -1, entry_of(plan, node), same_numa_last,
                         line);
}

static int list_all(const struct plan *plan, int *line)
{
    const struct coll_map *map = plan->map;
    int count = 0;
    for (int i = 0; i < map->node_count; i++)
        count +=
            list_node(plan, (map->node[plan->root] + i) % map->node_count, false, line + count);
    return count;
}

static void join_between(struct coll_tree *tree, const struct plan *plan, enum coll_shape inter,
                         int me, int *line)
{
    int count = inter == SHAPE_FLAT ? list_all(plan, line) : list_entries(plan, line);
    join(tree, inter, line, count, index_of(line, count, me));
}

static void join_within(struct coll_tree *tree, const struct plan *plan, enum coll_shape intra,
                        int me, int *line)
{
    int parent = tree->parent;
    int count = list_node(plan, plan->map->node[me], intra != SHAPE_WINDOW, line);
    if (intra == SHAPE_WINDOW)
        share(tree, plan->map, line, count, me);
    else if (intra == SHAPE_COMB)
        join_comb(tree, plan->map, line, count, index_of(line, count, me));
    else
        join(tree, intra, line, count, index_of(line, count, me));
    if (line[0] == me)
        tree->parent = parent;
}

int coll_tree_make(struct coll_tree *tree, const struct coll_map *map, enum coll_shape inter,
                   enum coll_shape intra, int root, int rail, int me)
{
    size_t room = (size_t)map->size;
    int *line = calloc(room, sizeof(int)), leader = coll_map_leader(map, rail, map->node[root]);
    struct plan plan = { map, root, rail, inter == SHAPE_SPINE && leader != root ? leader : -1 };
    *tree = (struct coll_tree){ .parent = -1, .source = -1 };
    tree->children = malloc(room * sizeof(int));
    tree->readers = malloc(room * sizeof(int));
    if (!line || !tree->children || !tree->readers) {
        free(line);
        coll_tree_clear(tree);
        return -ENOMEM;
    }
    if (inter == SHAPE_FLAT || (inter != SHAPE_NONE && me == entry_of(&plan, map->node[me])))
        join_between(tree, &plan, inter, me, line);
    if (inter != SHAPE_FLAT)
        join_within(tree, &plan, intra, me, line);
    free(line);
    return 0;
}

void coll_tree_clear(struct coll_tree *tree)
{
    free(tree->children);
    free(tree->readers);
    *tree = (struct coll_tree){ .parent = -1, .source = -1 };
}
