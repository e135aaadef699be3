/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_DISTANCE_WRITE_H
#define NUIOA_TOOL_PROBE_DISTANCE_WRITE_H

#include <stdint.h>

#include "topology/node.h"
#include "util/error.h"

/* Writes a section for `node` to the distance file of a site, in place of the sections that the
 * file has for the same node; those of other machines stay. `matrix` is as in
 * nuioa_distance_read_site, `comment` one line that says how it was found. What was measured of
 * the node's NICs is written too. The file is created if it does not exist, and is replaced in one
 * step: readers see the old file or the new one. Of a link its target is replaced, if root may
 * follow it (nuioa_secure_place in util/secure_file.h).
 * Returns 0; -EINVAL if the existing file is not a valid distance file, which then stays as it is;
 * or another negative errno. *err says why, and an existing file stays as it is. */
int nuioa_distance_write_site(const char *path, const struct nuioa_node *node,
                              const uint32_t *matrix, const char *comment, struct nuioa_error *err);

/* Checks, before what is to be written is measured, whether nuioa_distance_write_site could write
 * `path`: returns what that would. It makes a temporary file beside `path` and removes it; `path`
 * stays as it is. */
int nuioa_distance_check_site(const char *path, const struct nuioa_node *node,
                              struct nuioa_error *err);

#endif
