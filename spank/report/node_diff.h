/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_NODE_DIFF_H
#define SPANK_REPORT_NODE_DIFF_H

#include "spank/report/host_groups.h"
#include "spank/report/record.h"

/* The differences between a node's hardware and that of the other nodes, as administrators want to
 * see them. */

/* Returns a 64-bit hash of the numbers of NUMA nodes and cores and of all that the record says
 * about GPUs and NICs. It is equal for nodes that do not differ in these. */
uint64_t node_diff_digest(const struct record *record);

/* Adds to the groups a text for each difference of the node `other` from the node `usual`, such as
 * "no mlx5_0:1", "4 GPUs, elsewhere 8" or "mlx5_0:1 is down, elsewhere active", as one of `host`. */
void node_diff_add(struct host_groups *groups, const char *host, const struct record *usual,
                   const struct record *other);

#endif
