/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_LAYOUT_FIGURES_H
#define NUIOA_LAYOUT_FIGURES_H

#include <stdbool.h>

#include "layout/network.h"
#include "mapping/problem.h"
#include "profile/profile.h"

/* This is what ranks on nodes cost: the traffic that a layout counts, the layouts that srun has,
 * and their figures. A layout is an array node_of[rank_count], the node of each rank. */

/* The traffic between two ranks, both directions, without what is in `coll` lines: no layout
 * changes what a collective must send between nodes. */
struct nuioa_layout_traffic {
    uint32_t rank_count;
    uint32_t pair_count;
    struct nuioa_pair *pairs; /* [pair_count], each once, in their order */
    double bytes;             /* of the pairs */
    double all_bytes;         /* of the profile between two ranks, `coll` lines too */
};

/* Takes the traffic from a profile. Returns 0, and the caller frees it with
 * nuioa_layout_traffic_free; or -ENOMEM, and it is empty. */
int nuioa_layout_traffic_take(const struct nuioa_profile *profile,
                              struct nuioa_layout_traffic *traffic);

/* Frees the pairs and makes the traffic empty. */
void nuioa_layout_traffic_free(struct nuioa_layout_traffic *traffic);

/* Fills the caller's tasks[node_count] as srun does where no number of tasks is given for the
 * nodes: `ranks` are dealt to the nodes in turn, at most room[node] to each. Returns false if there
 * is too little room; tasks[] is then undefined. */
bool nuioa_layout_spread(uint32_t ranks, uint32_t node_count, const uint32_t *room,
                         uint32_t *tasks);

/* Fills the caller's node_of[] as srun -m block and srun -m cyclic do for tasks[node_count] on each
 * node. There are as many ranks as tasks. */
void nuioa_layout_block(uint32_t node_count, const uint32_t *tasks, uint32_t *node_of);
void nuioa_layout_cyclic(uint32_t node_count, const uint32_t *tasks, uint32_t *node_of);

struct nuioa_layout_figures {
    double off_node_bytes;
    double off_switch_bytes; /* between groups of the lowest level; 0 without switches */
    double cost;             /* bytes times nuioa_network_distance */
    double busiest_bytes;    /* most bytes that one node sends to others and receives from them */
};

/* Computes the figures of a layout. Returns 0 or -ENOMEM. */
int nuioa_layout_measure(const struct nuioa_layout_traffic *traffic,
                         const struct nuioa_network *network, const uint32_t *node_of,
                         struct nuioa_layout_figures *figures);

#endif
