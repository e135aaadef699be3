/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_NODE_DIFF_H
#define SPANK_REPORT_NODE_DIFF_H

#include "spank/report/record.h"

/* The differences between a node's hardware and that of the other nodes, as administrators want to
 * see them. */

/* Returns a 64-bit hash of the numbers of NUMA nodes and cores and of all that the record says
 * about GPUs and NICs. It is equal for nodes that do not differ in these. */
uint64_t node_diff_digest(const struct record *record);

#define NODE_DIFF_TEXT 128 /* the size in bytes of a text with its NUL; a longer one is cut */

/* Fills texts[max], which the caller allocated, with one text for each difference of the node
 * `other` from the node `usual`, such as "no mlx5_0:1", "4 GPUs, elsewhere 8" or "mlx5_0:1 is down,
 * elsewhere active". Returns the number of texts, at most `max`; further differences are left
 * out. */
unsigned node_diff_texts(const struct record *usual, const struct record *other,
                         char (*texts)[NODE_DIFF_TEXT], unsigned max);

#endif
