/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_NODE_DIFF_H
#define SPANK_RENDEZVOUS_NODE_DIFF_H

#include "spank/rendezvous/record.h"

/* What an administrator wants to see: in what a node is not like the others. */

/* Equal for nodes with the same NUMA nodes, cores and NICs, in the same states and places. */
uint64_t node_diff_digest(const struct record *record);

#define NODE_DIFF_TEXT 128

/* Fills texts[max], one for each difference: "no mlx5_0:1", "mlx5_0:1 is down". Returns how
 * many. */
unsigned node_diff_texts(const struct record *usual, const struct record *other,
                         char (*texts)[NODE_DIFF_TEXT], unsigned max);

/* FNV-1a over bytes; begin with NODE_DIFF_BASIS. */
#define NODE_DIFF_BASIS 0xcbf29ce484222325u
uint64_t node_diff_add(uint64_t digest, const void *bytes, size_t length);
uint64_t node_diff_add_text(uint64_t digest, const char *text);

#endif
