#include "coll_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int coll_map_room(struct coll_map *map, int size)
{
    size_t n = (size_t)size;
    *map = (struct coll_map){ .size = size };
    map->records = calloc(n, sizeof(*map->records));
    map->node = calloc(n, sizeof(int));
    map->first = calloc(n + 1, sizeof(int));
    map->ranks = calloc(n, sizeof(int));
    map->local = calloc(n, sizeof(int));
    map->leader = calloc(n * COLL_RAIL_MAX, sizeof(int));
    return map->records && map->node && map->first && map->ranks && map->local && map->leader
               ? 0 : -ENOMEM;
}

void coll_map_clear(struct coll_map *map)
{
    free(map->records);
    free(map->node);
    free(map->first);
    free(map->ranks);
    free(map->local);
    free(map->leader);
    *map = (struct coll_map){ 0 };
}

/* Nodes are numbered in the order of their lowest ranks. */
static void number_nodes(struct coll_map *map)
{
    map->node_count = 0;
    for (int rank = 0; rank < map->size; rank++) {
        int lowest = map->records[rank].node;
        map->node[rank] = lowest == rank ? map->node_count++ : map->node[lowest];
    }
}

static void list_ranks(struct coll_map *map)
{
    for (int rank = 0; rank < map->size; rank++)
        map->first[map->node[rank] + 1]++;
    map->most = 0;
    for (int node = 0; node < map->node_count; node++) {
        if (map->first[node + 1] > map->most)
            map->most = map->first[node + 1];
        map->first[node + 1] += map->first[node];
    }
    /* `first` serves as cursor and ends one node further; moved back below */
    for (int rank = 0; rank < map->size; rank++)
        map->ranks[map->first[map->node[rank]]++] = rank;
    for (int node = map->node_count; node > 0; node--)
        map->first[node] = map->first[node - 1];
    map->first[0] = 0;
    map->blocks = true;
    for (int i = 0; i < map->size; i++) {
        int rank = map->ranks[i];
        map->local[rank] = i - map->first[map->node[rank]];
        map->blocks = map->blocks && rank == i;
    }
}

/* The best of a node among those that lead `rail` (-1: among all); -1: nobody. */
static int best(const struct coll_map *map, int node, int rail)
{
    int found = -1;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        int rank = map->ranks[i];
        if (rail >= 0 && map->records[rank].rail != rail)
            continue;
        if (found < 0 || map->records[rank].place < map->records[found].place)
            found = rank;
    }
    return found;
}

static int rails_of(const struct coll_map *map, int node)
{
    int rails = 0;
    while (rails < COLL_RAIL_MAX && best(map, node, rails) >= 0)
        rails++;
    return rails ? rails : 1;
}

static void elect(struct coll_map *map)
{
    map->rail_count = COLL_RAIL_MAX;
    for (int node = 0; node < map->node_count; node++) {
        int rails = rails_of(map, node);
        if (rails < map->rail_count)
            map->rail_count = rails;
    }
    map->advised = false;
    for (int node = 0; node < map->node_count; node++) {
        int first = best(map, node, -1);
        map->advised = map->advised || map->records[first].place != COLL_PLACE_UNKNOWN;
        for (int rail = 0; rail < map->rail_count; rail++)
            map->leader[rail * map->node_count + node] =
                map->rail_count > 1 ? best(map, node, rail) : first;
    }
}

/* Ranks of one NUMA node may use NICs at different distances; for the walk it is one place. */
static void level_numas(struct coll_map *map)
{
    for (int rank = 0; rank < map->size; rank++) {
        struct coll_record *own = &map->records[rank];
        int node = map->node[rank];
        for (int i = map->first[node]; i < map->first[node + 1]; i++) {
            const struct coll_record *other = &map->records[map->ranks[i]];
            if (other->numa == own->numa && other->level < own->level)
                own->level = other->level;
        }
    }
}

void coll_map_make(struct coll_map *map)
{
    number_nodes(map);
    list_ranks(map);
    level_numas(map);
    elect(map);
}

/* --- the walk -------------------------------------------------------------------------------- */

struct walk {
    const struct coll_map *map;
    int entry;
    bool mates_last;
};

static int group_of(const struct walk *walk, int rank)
{
    if (rank == walk->entry)
        return 0;
    if (walk->map->records[rank].numa != walk->map->records[walk->entry].numa)
        return 2;
    return walk->mates_last ? 3 : 1;
}

static int order(int a, int b)
{
    return (a > b) - (a < b);
}

static int compare(const void *left, const void *right, void *context)
{
    const struct walk *walk = context;
    int a = *(const int *)left, b = *(const int *)right;
    const struct coll_record *first = &walk->map->records[a], *second = &walk->map->records[b];
    int result = order(group_of(walk, a), group_of(walk, b));
    if (!result)
        result = order(first->level, second->level);
    if (!result)
        result = order(first->numa, second->numa);
    return result ? result : order(a, b);
}

int coll_map_walk(const struct coll_map *map, int entry, bool mates_last, int *ranks)
{
    struct walk walk = { map, entry, mates_last };
    int node = map->node[entry], count = coll_map_count(map, node);
    memcpy(ranks, map->ranks + map->first[node], (size_t)count * sizeof(*ranks));
    qsort_r(ranks, (size_t)count, sizeof(*ranks), compare, &walk);
    return count;
}
