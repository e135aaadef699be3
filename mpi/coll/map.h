/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_MAP_H
#define NUIOA_MPI_COLL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the ranks of a communicator are, and who leads each node. Pure: no MPI here. All ranks
 * make it from the same records, so all have the same. */

#define COLL_RAIL_MAX 8
#define COLL_PLACE_UNKNOWN INT32_MAX
#define COLL_NUMA_MAX 16

/* What a rank says about itself; exchanged as it is. */
struct coll_record {
    int32_t node;  /* lowest rank of its node */
    int32_t numa;  /* its NUMA node; -1: not known */
    int32_t level; /* its distance from the NIC; -1: not known */
    int32_t place; /* among the node's leaders, 0 = best; COLL_PLACE_UNKNOWN: no advice */
    int32_t rail;  /* which of the node's rails it leads; -1: none */
    int32_t world; /* its rank in MPI_COMM_WORLD */
    uint8_t distance[COLL_NUMA_MAX]; /* from its NUMA node to each; 0: not known */
    int32_t cpu, cpu_count;          /* the lowest it may use, and how many; 0: not known */
};

struct coll_map {
    int size, node_count;
    int rail_count; /* leaders of each node: as many as the node with fewest has, or 1 */
    int most;       /* ranks of the largest node */
    bool advised;   /* some node's leader is chosen by advice */
    bool blocks;    /* each node's ranks are consecutive and the nodes in their order */
    struct coll_record *records; /* [size] */
    int *node;                   /* [size]: index of the node */
    int *first;                  /* [node_count + 1]: where a node's ranks begin in `ranks` */
    int *ranks;                  /* [size]: node by node, ascending */
    int *local;                  /* [size]: place among the ranks of its node */
    int *leader;                 /* [rail][node_count]: see coll_map_leader */
};

/* Room for a map of `size` ranks; the caller fills `records`, then coll_map_make does the rest and
 * cannot fail. -ENOMEM. Freed by coll_map_clear, also after a failure. */
int coll_map_room(struct coll_map *map, int size);
void coll_map_make(struct coll_map *map);
void coll_map_clear(struct coll_map *map);

/* Does some rank share its CPUs with more ranks of its node than they are? Masks with one lowest
 * CPU are taken for the same. */
bool coll_map_is_crowded(const struct coll_map *map);

static inline int coll_map_leader(const struct coll_map *map, int rail, int node)
{
    return map->leader[rail * map->node_count + node];
}

static inline int coll_map_count(const struct coll_map *map, int node)
{
    return map->first[node + 1] - map->first[node];
}

/* The ranks of `entry`'s node in the order in which a chain walks them: `entry`, then NUMA node by
 * NUMA node, each time to the nearest that is left; among equals the one nearer to the NIC. The
 * mates, which share entry's NUMA node, come right after it or, with `mates_last`, at the end: then
 * the memory that the first rank reads for the network too has a rank that nobody reads from.
 * `before` (-1: none) is put before all, and `entry` follows it. ranks[] has room for the whole
 * node; returns how many. */
int coll_map_walk(const struct coll_map *map, int before, int entry, bool mates_last, int *ranks);

#endif
