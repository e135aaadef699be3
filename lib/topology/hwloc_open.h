/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_HWLOC_OPEN_H
#define NUIOA_TOPOLOGY_HWLOC_OPEN_H

#include <hwloc.h>
#include <stdbool.h>

#include "util/error.h"

/* Loads an hwloc topology with all that nuioa reads from it. `path` is the topology of a
 * nuioa_source (topology/node_load.h); NULL is this machine. `drawing` is true if the caller will
 * add Misc objects to the topology. Sets *directory to `path` if that is the directory of a dump,
 * otherwise to NULL. With a `path` it sets environment variables meanwhile, so that the process
 * must have one thread. Returns 0 and sets *topology, which the caller frees with
 * hwloc_topology_destroy; or, with *err and without a topology, -EINVAL if hwloc refuses it or a
 * directory is no dump, -ENOMEM, or the negative errno of stat(2). */
int nuioa_hwloc_open(hwloc_topology_t *topology, const char *path, bool drawing,
                     const char **directory, struct nuioa_error *err);

#endif
