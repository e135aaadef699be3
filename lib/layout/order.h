/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_LAYOUT_ORDER_H
#define NUIOA_LAYOUT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* MPI_Gather and MPI_Scatter of Open MPI 5.0.0 to 5.0.10 (its component coll/han) rely on an order
 * of ranks over nodes: the nodes in the order of their first ranks must be in the same order by
 * their second ranks, and so on. Else data is wrong, in silence, at each root that is not the
 * lowest rank of its node. HAN is not used where nodes have unlike numbers of ranks; but a
 * communicator of some of the ranks may have equally many. The orders of srun (block, cyclic,
 * plane) are safe, those of srun -m arbitrary often are not. */

/* Returns whether coll/han is right in the order node_of[rank_count], the node of each rank, below
 * `node_count`. A node may have no rank. Returns false also without memory. */
bool nuioa_order_is_safe(const uint32_t *node_of, uint32_t rank_count, uint32_t node_count);

/* Makes a safe layout, in which all nodes have the pattern of `node`, which has ranks, shifted.
 * Fills the caller's repeated[rank_count], in which the first rank of a node stays on its node if
 * that is possible. Returns false, and repeated[] is undefined, if nodes have unlike numbers of
 * ranks, if the pattern does not fill the nodes, or without memory. */
bool nuioa_order_repeat(const uint32_t *node_of, uint32_t rank_count, uint32_t node_count,
                        uint32_t node, uint32_t *repeated);

#endif
