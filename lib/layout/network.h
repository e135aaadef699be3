/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_LAYOUT_NETWORK_H
#define NUIOA_LAYOUT_NETWORK_H

#include "layout/host_list.h"
#include "util/error.h"

/* The levels of switches above the nodes of a job. On the lowest level a group is what is below one
 * leaf switch, or a block of nodes; on the next ones it is what is below a switch of switches, or
 * blocks together. A byte between two nodes costs 1, and 1 more for each level on which their
 * groups differ. */
struct nuioa_network {
    uint32_t node_count;
    uint32_t level_count; /* 0: nothing is known of switches */
    uint32_t *group;      /* [level_count * node_count], a row for each level, the lowest first: a
                             number for each node that is the same within a group */
};

/* Levels of switches; more are taken for a circle. */
#define NUIOA_NETWORK_LEVELS_MAX 16

/* Reads what `scontrol show topology` prints, for the nodes of *nodes: lines with SwitchName,
 * Nodes and Switches (tree), or with BlockName or AggregatedBlock, Nodes and BlockSize (block);
 * other words, other lines and what follows a '#' are ignored. The levels on which all nodes are
 * together are left out, except the lowest. *network is overwritten. Returns 0, and the caller
 * frees it with nuioa_network_free; level_count is 0 if the text has no such line. Or returns with
 * *err, and *network is empty: -EINVAL if the text has both switches and blocks, if a switch is
 * named that is not there, is there twice, is below two others, or below itself, if a node is below
 * none, if there are more than NUIOA_NETWORK_LEVELS_MAX levels, or if a list of nodes is malformed;
 * -E2BIG if such a list is too long (layout/host_list.h); or -ENOMEM. */
int nuioa_network_parse(const char *text, const struct nuioa_host_list *nodes,
                        struct nuioa_network *network, struct nuioa_error *err);

/* Frees the groups and makes the network empty. */
void nuioa_network_free(struct nuioa_network *network);

/* Returns what a byte between the nodes a and b costs: 0 if they are the same. */
uint32_t nuioa_network_distance(const struct nuioa_network *network, uint32_t a, uint32_t b);

#endif
