/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NODE_SERIALIZE_H
#define NUIOA_TOPOLOGY_NODE_SERIALIZE_H

#include "topology/node.h"

/* A description as bytes: for the cache and for a discovery in a child process. Same build on both
 * sides; a header refuses anything else. Pack: malloc'd *bytes (caller frees) or -ENOMEM. Unpack
 * trusts nothing: every length and index is checked; 0, or negative with *err set and *node
 * empty. */
int nuioa_node_serialize(const struct nuioa_node *node, void **bytes, size_t *length);
int nuioa_node_deserialize(struct nuioa_node *node, const void *bytes, size_t length,
                           struct nuioa_error *err);

#endif
