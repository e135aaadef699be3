#include "coll_tree.h"

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

/* Of a line of ranks that begins at the root: the neighbours of the one at `index`. */
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

static int index_of(const int *line, int count, int rank)
{
    for (int i = 0; i < count; i++)
        if (line[i] == rank)
            return i;
    return -1;
}

/* The walk's NUMA nodes: its first rank reads from `entry`'s memory and the others from its. */
static void share(struct coll_tree *tree, const struct coll_map *map, const int *walk, int count,
                  int me)
{
    int entry = walk[0], head = entry;
    for (int i = 1; i < count; i++) {
        int rank = walk[i], from = head;
        if (map->records[rank].numa != map->records[head].numa) {
            from = entry;
            head = rank;
        }
        if (rank == me)
            tree->source = from;
        if (from == me)
            tree->readers[tree->reader_count++] = rank;
    }
}

/* Nodes in their order, beginning with the root's. */
static int list_entries(const struct coll_map *map, int root, int rail, int *line)
{
    for (int i = 0; i < map->node_count; i++)
        line[i] = coll_tree_entry(map, (map->node[root] + i) % map->node_count, root, rail);
    return map->node_count;
}

static int list_all(const struct coll_map *map, int root, int rail, int *line)
{
    int count = 0;
    for (int i = 0; i < map->node_count; i++) {
        int node = (map->node[root] + i) % map->node_count;
        count += coll_map_walk(map, coll_tree_entry(map, node, root, rail), false, line + count);
    }
    return count;
}

int coll_tree_make(struct coll_tree *tree, const struct coll_map *map, enum coll_shape inter,
                   enum coll_shape intra, int root, int rail, int me)
{
    size_t room = (size_t)map->size;
    int *line = malloc(room * sizeof(int));
    *tree = (struct coll_tree){ .parent = -1, .source = -1 };
    tree->children = malloc(room * sizeof(int));
    tree->readers = malloc(room * sizeof(int));
    if (!line || !tree->children || !tree->readers) {
        free(line);
        coll_tree_clear(tree);
        return -ENOMEM;
    }
    int entry = coll_tree_entry(map, map->node[me], root, rail), count;
    if (inter == SHAPE_FLAT) {
        count = list_all(map, root, rail, line);
        join(tree, SHAPE_CHAIN, line, count, index_of(line, count, me));
    } else if (inter != SHAPE_NONE && entry == me) {
        count = list_entries(map, root, rail, line);
        join(tree, inter, line, count, index_of(line, count, me));
    }
    if (inter != SHAPE_FLAT) {
        int parent = tree->parent;
        count = coll_map_walk(map, entry, intra != SHAPE_WINDOW, line);
        if (intra == SHAPE_WINDOW)
            share(tree, map, line, count, me);
        else
            join(tree, intra, line, count, index_of(line, count, me));
        if (entry == me)
            tree->parent = parent;
    }
    free(line);
    return 0;
}

void coll_tree_clear(struct coll_tree *tree)
{
    free(tree->children);
    free(tree->readers);
    *tree = (struct coll_tree){ .parent = -1, .source = -1 };
}
