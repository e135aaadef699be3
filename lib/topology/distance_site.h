/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_DISTANCE_SITE_H
#define NUIOA_TOPOLOGY_DISTANCE_SITE_H

#include <stdint.h>

#include "topology/node.h"
#include "util/error.h"

/* Reads the distance file of a site (doc/formats.md, "Distances"): of its sections the
 * first one that describes `node`, that is, has the same number of packages, NUMA nodes and cores,
 * the same processor model, if it names one, and the same OS indexes of the NUMA nodes.
 *
 * Fills the caller's `matrix`, which has node->numa_count squared cells as in struct
 * nuioa_distance, and sets `measured` of those of nics[node->nic_count] that "nic" lines name, by
 * name or label. Other NICs stay as they are, and so do NUMA nodes of a NIC without a line. Both
 * may be NULL: nothing is filled or set.
 *
 * Returns 0; -ENOENT if there is no such file or no such section; -EINVAL if the file is malformed,
 * with the line in *err; -ENOMEM; or that of nuioa_distance_load. After an error *err says why,
 * `matrix` is unchanged, and some NICs may be set. */
int nuioa_distance_read_site(const char *path, const struct nuioa_node *node, uint32_t *matrix,
                             struct nuioa_nic *nics, struct nuioa_error *err);

/* Reads the whole distance file `path` into *text, which ends with a NUL and which the caller frees
 * with free(). Returns 0; or with *err, and *text is NULL, the negative errno of open(2), or
 * -EINVAL if it is not a regular file of less than 4 MiB, cannot be read, or memory is short. */
int nuioa_distance_load(const char *path, char **text, struct nuioa_error *err);

#endif
