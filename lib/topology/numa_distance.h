/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NUMA_DISTANCE_H
#define NUIOA_TOPOLOGY_NUMA_DISTANCE_H

#include <hwloc.h>
#include <stdint.h>

#include "util/error.h"

struct nuioa_node;

enum nuioa_distance_source {
    NUIOA_DISTANCE_NONE,      /* one NUMA node, and no section of the site's file for it */
    NUIOA_DISTANCE_SITE,      /* the site's distance file */
    NUIOA_DISTANCE_SLIT,      /* the firmware's table, as the kernel and hwloc give it */
    NUIOA_DISTANCE_STRUCTURE, /* which NUMA nodes share a package or an hwloc group */
};

/* Distances between NUMA nodes on the scale of a SLIT, the distance table of ACPI: 10 is local. The
 * matrix is square and row-major, in the order of node->numas; [i][j] is the distance from
 * initiator i (a CPU or NIC) to memory j. On real machines it is not symmetric.
 *
 * A level is a class of distances within one row. level[i][i] is 0. The other values of row i, in
 * ascending order, form the levels 1, 2, ...: each level holds the values of up to
 * NUIOA_LEVEL_SPREAD times its smallest one, because firmware tables have values like 32 and 33 for
 * the same number of links. NUMA nodes without CPUs make no level, because no rank runs there: each
 * is in the last level that is not farther, or in level 1. */
#define NUIOA_LEVEL_SPREAD 1.08

/* The arrays belong to the node. */
struct nuioa_distance {
    enum nuioa_distance_source source;
    uint32_t count;   /* rows */
    uint32_t *matrix; /* [count * count] */
    uint8_t *level;   /* [count * count] */
};

/* Returns the distance from NUMA node i to NUMA node j, both indexes into node->numas. */
static inline uint32_t nuioa_distance_at(const struct nuioa_distance *d, unsigned i, unsigned j)
{
    return d->matrix[(size_t)i * d->count + j];
}

/* Returns the level of NUMA node j as seen from NUMA node i, both indexes into node->numas. */
static inline unsigned nuioa_level_at(const struct nuioa_distance *d, unsigned i, unsigned j)
{
    /* -Wanalyzer-null-dereference: all distances of a node have levels. */
    return d->level[(size_t)i * d->count + j];
}

/* Computes d->level from d->matrix; the caller has allocated both. `node` has the same NUMA nodes;
 * NULL: all have CPUs. It cannot fail. */
void nuioa_distance_levels(struct nuioa_distance *d, const struct nuioa_node *node);

/* Sets level[d->count] to the levels of all NUMA nodes of `node` from a device that is near those
 * in `numas` (OS indexes): each from the nearest of them, and from memory without CPUs only to
 * itself, unless none of them has CPUs. All are UINT8_MAX if `numas` is empty. */
void nuioa_levels_from(const struct nuioa_distance *d, const struct nuioa_node *node,
                       hwloc_const_bitmap_t numas, uint8_t *level);

/* Returns the name of a source, "site", "slit", "structure" or "none": a constant text. */
const char *nuioa_distance_source_name(enum nuioa_distance_source source);

/* Sets node->distance from the first of these that is there and sound: the distance file `site`
 * (may be NULL), which also sets `measured` of NICs, the firmware's table, the structure of the
 * topology. Then it sets `level` of the NICs. node->numas and node->nics must be set. Problems with
 * the file or the table become warnings of the node, and the next source is tried. A table that has
 * one distance for all pairs, where three or more NUMA nodes have CPUs, counts only if the
 * structure has one, too. Returns 0, or -ENOMEM with *err; nuioa_node_free frees the result in both
 * cases. */
int nuioa_discover_distance(struct nuioa_node *node, hwloc_topology_t topology, const char *site,
                            struct nuioa_error *err);

#endif
