/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/map.h"

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
               ? 0
               : -ENOMEM;
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

/* Nodes are numbered in the order of their lowest ranks. A rank whose record names another rank
 * that is not the lowest of a node counts as a node of its own. */
static void number_nodes(struct coll_map *map)
{
    map->node_count = 0;
    for (int rank = 0; rank < map->size; rank++) {
        int lowest = map->records[rank].node;
        bool known = lowest >= 0 && lowest < rank && map->records[lowest].node == lowest;
        map->node[rank] = known ? map->node[lowest] : map->node_count++;
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
    /* `first` is used as a cursor, which ends at the next node, and is moved back below */
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

/* Returns the best leader of a node among those that lead `rail` (-1: among all ranks), or -1. */
static int best(const struct coll_map *map, int node, int rail)
{
    int found = -1;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        int rank = map->ranks[i];
        if (rail >= 0 && map->records[rank].rail != rail)
            continue;
        if (found < 0 || map->records[rank].order < map->records[found].order)
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
        map->advised = map->advised || map->records[first].order != COLL_ORDER_UNKNOWN;
        for (int rail = 0; rail < map->rail_count; rail++)
            map->leader[rail * map->node_count + node] =
                map->rail_count > 1 ? best(map, node, rail) : first;
    }
}

void coll_map_make(struct coll_map *map)
{
    number_nodes(map);
    list_ranks(map);
    elect(map);
}

/* --- CPUs ------------------------------------------------------------------------------------ */

static bool has_room(const struct coll_map *map, int rank)
{
    const struct coll_record *own = &map->records[rank];
    int node = map->node[rank], sharing = 0;
    if (!own->cpu_count || own->cpu_count >= coll_map_count(map, node))
        return true;
    for (int i = map->first[node]; i < map->first[node + 1]; i++)
        sharing += map->records[map->ranks[i]].cpu == own->cpu;
    return sharing <= own->cpu_count;
}

bool coll_map_is_crowded(const struct coll_map *map)
{
    for (int rank = 0; rank < map->size; rank++)
        if (!has_room(map, rank))
            return true;
    return false;
}

/* --- the walk -------------------------------------------------------------------------------- */

static bool holds(const int *ranks, int count, int rank)
{
    for (int i = 0; i < count; i++)
        if (ranks[i] == rank)
            return true;
    return false;
}

/* Adds all ranks of the NUMA node `numa` that are not listed yet. Returns the new count. */
static int add_numa(const struct coll_map *map, int node, int numa, int *ranks, int count)
{
    int listed = count;
    for (int i = map->first[node]; i < map->first[node + 1]; i++)
        if (map->records[map->ranks[i]].numa == numa && !holds(ranks, listed, map->ranks[i]))
            ranks[count++] = map->ranks[i];
    return count;
}

static int distance(const struct coll_record *from, int numa)
{
    return numa >= 0 && numa < COLL_NUMA_MAX ? from->distance[numa] : 0;
}

/* Returns whether the NUMA node of `a` is a better next step than that of `b`. */
static bool is_nearer(const struct coll_record *from, const struct coll_record *a,
                      const struct coll_record *b)
{
    int first = distance(from, a->numa), second = distance(from, b->numa);
    if (first != second)
        return first < second;
    return a->level != b->level ? a->level < b->level : a->numa < b->numa;
}

/* Returns a rank on the NUMA node that comes after that of `here`, or -1 if only `avoided` is
 * left. */
static int next_numa(const struct coll_map *map, int node, int here, int avoided, const int *ranks,
                     int count)
{
    int found = -1;
    for (int i = map->first[node]; i < map->first[node + 1]; i++) {
        int rank = map->ranks[i];
        const struct coll_record *record = &map->records[rank];
        if (record->numa == avoided || holds(ranks, count, rank))
            continue;
        if (found < 0 || is_nearer(&map->records[here], record, &map->records[found]))
            found = rank;
    }
    return found;
}

int coll_map_walk(const struct coll_map *map, int before, int entry, bool same_numa_last,
                  int *ranks)
{
    int node = map->node[entry], home = map->records[entry].numa, count = 0, here = entry;
    if (before >= 0)
        ranks[count++] = before;
    ranks[count++] = entry;
    if (!same_numa_last)
        count = add_numa(map, node, home, ranks, count);
    while ((here = next_numa(map, node, here, home, ranks, count)) >= 0)
        count = add_numa(map, node, map->records[here].numa, ranks, count);
    return add_numa(map, node, home, ranks, count);
}
