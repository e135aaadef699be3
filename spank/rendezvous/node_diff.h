/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_NODE_DIFF_H
#define SPANK_RENDEZVOUS_NODE_DIFF_H

#include "spank/rendezvous/record.h"

/* The differences between a node's hardware and that of the other nodes, as administrators want to
 * see them. */

/* A digest of the NUMA nodes, cores and NICs with their states and NUMA nodes; equal for nodes that
 * do not differ in these. */
uint64_t node_diff_digest(const struct record *record);

#define NODE_DIFF_TEXT 128 /* size of a text with its NUL */

/* Fills texts[max], one for each difference of `other` from `usual`, such as "no mlx5_0:1" or
 * "mlx5_0:1 is down". Returns their number, at most `max`. */
unsigned node_diff_texts(const struct record *usual, const struct record *other,
                         char (*texts)[NODE_DIFF_TEXT], unsigned max);

#endif
