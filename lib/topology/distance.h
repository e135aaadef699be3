/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_DISTANCE_H
#define NUIOA_TOPOLOGY_DISTANCE_H

#include <stdint.h>

#include "util/error.h"

struct nuioa_node;

enum nuioa_distance_source {
    NUIOA_DISTANCE_NONE,      /* one NUMA node */
    NUIOA_DISTANCE_SITE,      /* the site's distance file */
    NUIOA_DISTANCE_SLIT,      /* the firmware's table, as the kernel and hwloc give it */
    NUIOA_DISTANCE_STRUCTURE, /* who shares a package or a group with whom */
};

/* Distances between NUMA nodes, on the scale of a SLIT (10 = local). Square, row-major, in the
 * order of node->numas; [i][j] is from initiator i (CPU or NIC) to memory j. Not symmetric on real
 * machines.
 *
 * level[i][j]: classes of one row. 0 on the diagonal; the other values of row i, ascending, fall
 * into classes from 1 on, one class holding values up to NUIOA_LEVEL_SPREAD times its smallest, not
 * chained (firmware tables hold pairs like 32 and 33 for the same number of links). */
#define NUIOA_LEVEL_SPREAD 1.08

struct nuioa_distance {
    enum nuioa_distance_source source;
    uint32_t count;   /* rows */
    uint32_t *matrix; /* count * count */
    uint8_t *level;   /* count * count */
};

static inline uint32_t nuioa_distance_at(const struct nuioa_distance *d, unsigned i, unsigned j)
{
    return d->matrix[(size_t)i * d->count + j];
}

static inline unsigned nuioa_level_at(const struct nuioa_distance *d, unsigned i, unsigned j)
{
    return d->level[(size_t)i * d->count + j];
}

/* Fills level from matrix. */
void nuioa_distance_levels(struct nuioa_distance *d);

/* "site", "slit", "structure", "none" */
const char *nuioa_distance_source_name(enum nuioa_distance_source source);

/* Reads the section of a site distance file (contract: "Site distance file") that was made for
 * `node`: same packages, numa, cores and model, same NUMA OS indexes. On success `matrix`
 * (numa_count squared) is filled. -ENOENT: no such file or no such section; -EINVAL: malformed,
 * *err names the line. */
int nuioa_distance_read_site(const char *path, const struct nuioa_node *node, uint32_t *matrix,
                             struct nuioa_error *err);

/* Writes such a section for `node` (`matrix` as above, `comment` one line of how it was found) in
 * place of the one it has there, and leaves those of other machines alone; makes the file if there
 * is none. 0; -EINVAL: what is there is no site distance file, and stays; or -errno. *err is
 * set. */
int nuioa_distance_write_site(const char *path, const struct nuioa_node *node,
                              const uint32_t *matrix, const char *comment, struct nuioa_error *err);

#endif
