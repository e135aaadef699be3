/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_MAP_H
#define NUIOA_MPI_COLL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The map of a communicator tells which rank is on which node, and which ranks lead the nodes. It
 * does not use MPI. All ranks make their map from the same records, so all maps are equal. */

#define COLL_RAIL_MAX 8              /* the largest number of leaders of a node */
#define COLL_ORDER_UNKNOWN INT32_MAX /* for coll_record.order */
#define COLL_NUMA_MAX 16             /* NUMA nodes with a higher number have no known distance */

/* The record that each rank sends to all others, byte by byte. */
struct coll_record {
    int32_t node;  /* the lowest rank on its node */
    int32_t numa;  /* its NUMA node; -1: not known */
    int32_t level; /* its distance from the NIC; -1: not known */
    int32_t order; /* its index in the node's order, 0 = best leader; or COLL_ORDER_UNKNOWN */
    int32_t rail;  /* the rail of the node that it leads; -1: none */
    int32_t world; /* its rank in MPI_COMM_WORLD */
    uint8_t distance[COLL_NUMA_MAX]; /* the kernel's, from its NUMA node to each; 0: not known */
    int32_t cpu, cpu_count;          /* the lowest CPU it may use, and their number; 0: not known */
};

struct coll_map {
    int size, node_count;
    int rail_count; /* leaders of each node: as many as the node with the fewest rails, or 1 */
    int most;       /* number of ranks on the largest node */
    bool advised;   /* the leader of at least one node is chosen by advice */
    bool blocks;    /* the ranks of each node are consecutive, and the nodes are in their order */
    struct coll_record *records; /* [size] */
    int *node;                   /* [size]: index of the rank's node */
    int *first;  /* [node_count + 1]: index in `ranks` of the first rank of each node */
    int *ranks;  /* [size]: the ranks ordered by node, ascending on each node */
    int *local;  /* [size]: index of the rank among those of its node */
    int *leader; /* [rail][node_count]: read by coll_map_leader */
};

/* Allocates the arrays of a map of `size` ranks. Then the caller fills map->records and calls
 * coll_map_make. Returns 0 or -ENOMEM. In both cases the caller calls coll_map_clear. */
int coll_map_room(struct coll_map *map, int size);

/* Makes the rest of the map from map->records. It cannot fail. */
void coll_map_make(struct coll_map *map);

/* Frees the arrays and makes *map all zeros. A second call does nothing. */
void coll_map_clear(struct coll_map *map);

/* Returns true if some rank shares its CPUs with too many ranks of its node: with more ranks than
 * there are CPUs. Two ranks whose lowest CPU is the same are taken to have the same CPUs. */
bool coll_map_is_crowded(const struct coll_map *map);

/* Returns the rank of the communicator that leads the node with the index `node` for the rail
 * `rail`, which is from 0 to rail_count - 1. A rail is a NIC in use; the ranks beside it are near
 * to it. */
static inline int coll_map_leader(const struct coll_map *map, int rail, int node)
{
    return map->leader[rail * map->node_count + node];
}

/* Returns the number of ranks on the node with the index `node`. */
static inline int coll_map_count(const struct coll_map *map, int node)
{
    return map->first[node + 1] - map->first[node];
}

/* Lists the ranks of entry's node in the order in which a chain visits them: `entry`, then one NUMA
 * node after the other, each time the nearest one that is left (the nearest-neighbour rule); of
 * two that are equally near, the one nearer to the NIC comes first. The other ranks of entry's NUMA
 * node come right after `entry`; with `same_numa_last` they come at the end, so that the memory
 * beside the NIC, which the network uses too, is read by one rank less. `before` is another rank of
 * the node, which is put before `entry`, or -1. Fills ranks[], which has room for all ranks of the
 * node, and returns their number. */
int coll_map_walk(const struct coll_map *map, int before, int entry, bool same_numa_last,
                  int *ranks);

#endif
