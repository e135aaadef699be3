/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/off_node.h"

#include <stdlib.h>

void off_node_begin(struct off_node *off, uint32_t rank_count)
{
    *off = (struct off_node){ .node_of = calloc(rank_count + 1, sizeof(*off->node_of)) };
    off->rank_count = off->node_of ? rank_count : 0;
}

void off_node_add(struct off_node *off, const uint32_t *ranks, uint32_t count)
{
    off->nodes++;
    for (uint32_t i = 0; i < count; i++)
        if (ranks[i] < off->rank_count) {
            off->told += !off->node_of[ranks[i]];
            off->node_of[ranks[i]] = off->nodes;
        }
}

double off_node_share(const struct off_node *off, const struct nuioa_profile *profile)
{
    double all = 0, between = 0;
    if (off->nodes < 2 || off->told != profile->rank_count)
        return -1;
    for (uint32_t i = 0; i < profile->flow_count; i++) {
        const struct nuioa_flow *flow = &profile->flows[i];
        if (flow->collective || flow->source == flow->target)
            continue;
        all += flow->bytes;
        between += off->node_of[flow->source] != off->node_of[flow->target] ? flow->bytes : 0;
    }
    return all > 0 ? between / all : -1;
}

void off_node_free(struct off_node *off)
{
    free(off->node_of);
    *off = (struct off_node){ 0 };
}
