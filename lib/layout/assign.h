/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_LAYOUT_ASSIGN_H
#define NUIOA_LAYOUT_ASSIGN_H

#include "layout/figures.h"

/* One search for the nodes of ranks by the mappers of lib/mapping: a slot is a place on a node, and
 * the price of a byte between two nodes is nuioa_network_distance. Where the network has no levels,
 * a "node" may as well be a switch with all that is below it. */

/* Fills the caller's node_of[rank_count], tasks[node_count] ranks on each node; there are as many
 * ranks as tasks. `known` is one more layout to improve, or NULL; it may be node_of itself.
 * `effort` is as in struct nuioa_problem. Returns 0, with *mapper as in struct nuioa_layout; or
 * -ENOMEM. node_of[] is then undefined. */
int nuioa_layout_assign(const struct nuioa_layout_traffic *traffic,
                        const struct nuioa_network *network, const uint32_t *tasks,
                        const uint32_t *known, uint64_t effort, uint32_t *node_of,
                        const char **mapper);

/* The same level by level: ranks to the switches of the highest level, then the ranks of each
 * switch to what is below it. As a byte that leaves a switch costs the same wherever it goes below
 * another one, the levels are separate problems, which are much smaller than the whole; but what is
 * best for a switch need not be best for the nodes. `effort` is that of all levels together.
 * Returns 0; or -ENOMEM, and node_of[] is undefined. */
int nuioa_layout_assign_levels(const struct nuioa_layout_traffic *traffic,
                               const struct nuioa_network *network, const uint32_t *tasks,
                               uint64_t effort, uint32_t *node_of);

#endif
