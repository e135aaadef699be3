/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_CACHE_H
#define NUIOA_TOPOLOGY_CACHE_H

#include "topology/node.h"
#include "topology/node_load.h"

/* A node's description, kept from one launch to the next: hwloc takes from milliseconds to seconds,
 * which no launch should pay. Static facts only; NIC state and rate are read at each launch.
 *
 * The file is valid on the boot, host and set of devices it was made on: boot id, host name, and a
 * fingerprint of the names and NUMA nodes of the network devices. It is read by root in slurmstepd,
 * so it must be a regular file owned by root (or by the caller, when that is not root), writable by
 * nobody else, in directories of which the same holds (sticky ones are accepted as MUNGE's
 * path_is_secure does). */

#define NUIOA_CACHE_DIR "/run/nuioa"

/* Default path of this node's cache, NUIOA_CACHE_DIR "/<host>.cache". Returns 0 or
 * -ENAMETOOLONG. */
int nuioa_cache_path(char *path, size_t size);

/* Writes a temporary file of its own (O_EXCL) beside `path` and renames it. Creates NUIOA_CACHE_DIR
 * (0755) if that is where it goes. 0 or negative with *err. */
int nuioa_cache_write(const char *path, const struct nuioa_node *node, const char *distances,
                      struct nuioa_error *err);

/* -ENOENT: there is none; -ESTALE: made on another boot, host, set of devices, version of nuioa, or
 * with another (or since modified) site distance file; -EPERM: not secure; -EINVAL: corrupt. */
int nuioa_cache_read(const char *path, const char *distances, struct nuioa_node *node,
                     struct nuioa_error *err);

/* What a launch calls: the cache if it is good, else a discovery in a child process that is killed
 * after `deadline_ms`, whose result is kept for the next launch (failure to keep it is a warning).
 * `path` NULL: the default path. With source->topology nothing is cached, the deadline holds. NIC
 * state is fresh on return. -ETIMEDOUT: past the deadline. Files that the source names must be as
 * secure as the cache: else a topology is -EPERM (so is a directory), a distance file is not used
 * and that is a warning. */
int nuioa_cache_get(const char *path, const struct nuioa_source *source, unsigned deadline_ms,
                    struct nuioa_node *node, struct nuioa_error *err);

/* nuioa_node_load in a child process that is killed after `deadline_ms` (-ETIMEDOUT); nothing is
 * kept. */
int nuioa_cache_discover(const struct nuioa_source *source, unsigned deadline_ms,
                         struct nuioa_node *node, struct nuioa_error *err);

#endif
