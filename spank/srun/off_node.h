/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_OFF_NODE_H
#define SPANK_SRUN_OFF_NODE_H

#include <stdint.h>

#include "profile/profile.h"

/* What of a profile's bytes leaves the nodes of the step that runs, by the ranks that each node
 * has. All zeros: nothing is known, and nothing is kept. One thread at a time uses it. */
struct off_node {
    uint32_t *node_of;   /* [rank_count]: the number of a rank's node, from 1; 0: no node has it */
    uint32_t rank_count; /* of the profile */
    uint32_t told;       /* ranks of the profile that nodes have */
    uint32_t nodes;      /* that have told their ranks */
};

/* Begins for a profile of so many ranks. Without memory nothing is kept. off_node_free() frees. */
void off_node_begin(struct off_node *off, uint32_t rank_count);

/* Adds a node with these ranks. Ranks that the profile does not have are left out. */
void off_node_add(struct off_node *off, const uint32_t *ranks, uint32_t count);

/* Returns the share, 0 to 1, of the bytes between two ranks that leaves a node, as `nuioa layout`
 * counts them: without `coll` lines. Returns a negative number where there is nothing to say: there
 * are no such bytes, one node, or a rank of the profile that no node has. */
double off_node_share(const struct off_node *off, const struct nuioa_profile *profile);

/* Frees what is kept, and makes it empty. */
void off_node_free(struct off_node *off);

#endif
