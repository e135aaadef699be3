/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_CACHE_H
#define NUIOA_TOPOLOGY_CACHE_H

#include "topology/node.h"
#include "topology/node_load.h"

/* The cache is a file that keeps the description of a node from one launch to the next, because
 * hwloc takes from milliseconds to seconds to make it. The state and rate of the NICs in it are
 * those of the time when it was made: nuioa_cache_get reads them again, the other functions do not.
 *
 * The file is valid for the boot (boot id), the host (name) and the hardware
 * (topology/fingerprint.h) that it was made on. Root reads it in slurmstepd, so it must be secure
 * as util/secure_file.h defines it. */

#define NUIOA_CACHE_DIR "/run/nuioa"

/* The size of the path below; a name of a host has at most 64 bytes in Linux. */
#define NUIOA_CACHE_PATH_SIZE (sizeof(NUIOA_CACHE_DIR "/.cache") + 64)

/* Writes the default path of the cache of this node, NUIOA_CACHE_DIR "/<host>.cache", to `path`, an
 * array of at least NUIOA_CACHE_PATH_SIZE bytes. A host without a usable name is "localhost". */
void nuioa_cache_path(char *path);

/* Writes the description of `node` to the file `path`, by a temporary file that it renames.
 * `distances` is the distance file that was used, or NULL. Creates NUIOA_CACHE_DIR (mode 0755) if
 * the file belongs there. Returns 0; or a negative errno with *err, and an older file stays as it
 * is: -EPERM if the directory is not secure or `path` is no regular file, -ENOMEM, or that of a
 * system call. */
int nuioa_cache_write(const char *path, const struct nuioa_node *node, const char *distances,
                      struct nuioa_error *err);

/* Reads a cache; *node is overwritten. Returns 0, and the caller frees *node with nuioa_node_free;
 * or a negative errno with *err, and *node is empty: -ENOENT if there is no file; -ESTALE if it was
 * made on another boot, host or hardware, with other variables HWLOC_*, by another version of nuioa
 * or hwloc, or with another distance file than `distances`, or one that has been modified since;
 * -EPERM if it is not secure; -EINVAL if it is damaged; or another one, such as -ENOMEM. */
int nuioa_cache_read(const char *path, const char *distances, struct nuioa_node *node,
                     struct nuioa_error *err);

/* Does the same, also if devices, variables or the distance file have changed since the cache was
 * made: *node is then what the machine was before, since its last boot. */
int nuioa_cache_read_former(const char *path, struct nuioa_node *node, struct nuioa_error *err);

/* Gets the description of this node for a launch: from the cache if it is valid, otherwise by
 * nuioa_cache_discover, and then writes the cache for the next launch. A cache that cannot be
 * written, or is there but neither readable nor -ESTALE, is a warning of the node. `path` is the
 * cache, NULL for the default path; `source` may be NULL. With source->topology no cache is read or
 * written. The state of the NICs is fresh.
 *
 * The files that `source` names must be as secure as the cache. A topology that is not, or that is
 * a directory, is -EPERM. A distance file that is not is left out, with a warning of the node.
 *
 * Returns 0, and the caller frees *node with nuioa_node_free; -ETIMEDOUT after `deadline_ms`
 * milliseconds; -ECHILD if the child died; or another negative errno, that of nuioa_node_load or of
 * starting the child. On failure *err says why and *node is empty. */
int nuioa_cache_get(const char *path, const struct nuioa_source *source, unsigned deadline_ms,
                    struct nuioa_node *node, struct nuioa_error *err);

/* Calls nuioa_node_load in a child process, which is killed after `deadline_ms` milliseconds. No
 * cache is read or written. `source` must not be NULL here, and its files are not checked. Returns
 * as nuioa_cache_get does. */
int nuioa_cache_discover(const struct nuioa_source *source, unsigned deadline_ms,
                         struct nuioa_node *node, struct nuioa_error *err);

#endif
