/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NODE_SERIALIZE_H
#define NUIOA_TOPOLOGY_NODE_SERIALIZE_H

#include "topology/node.h"

/* The description of a node as bytes, for the cache and for the child process that discovers it.
 * Writer and reader must be the same build: a header holds the version of nuioa, of the layout and
 * of hwloc. */

/* Writes a node as bytes, all but `subnet` of its NICs. Returns 0 and sets *bytes to a new array of
 * *length bytes, which the caller frees with free(); or -ENOMEM, and both are as they were. */
int nuioa_node_serialize(const struct nuioa_node *node, void **bytes, size_t *length);

/* Reads the description in bytes[length], which need not be trusted: every length and index is
 * checked. *node is overwritten, and keeps no pointer into the bytes. Returns 0, and the caller
 * frees *node with nuioa_node_free; -ESTALE if another build wrote it; or -EINVAL if it is damaged
 * or memory is short. On failure *err says why and *node is empty. */
int nuioa_node_deserialize(struct nuioa_node *node, const void *bytes, size_t length,
                           struct nuioa_error *err);

#endif
