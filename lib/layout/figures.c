/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout/figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_slice.h"

int nuioa_layout_traffic_take(const struct nuioa_profile *profile, struct nuioa_layout_traffic *t)
{
    *t = (struct nuioa_layout_traffic){ .rank_count = profile->rank_count };
    t->pairs = malloc(((size_t)profile->flow_count + 1) * sizeof(*t->pairs));
    if (!t->pairs)
        return -ENOMEM;
    for (uint32_t i = 0; i < profile->flow_count; i++) {
        const struct nuioa_flow *f = &profile->flows[i];
        if (f->source == f->target)
            continue;
        t->all_bytes += f->bytes;
        if (f->collective || f->bytes <= 0)
            continue;
        t->bytes += f->bytes;
        t->pairs[t->pair_count++] = (struct nuioa_pair){
            .first = f->source < f->target ? f->source : f->target,
            .second = f->source < f->target ? f->target : f->source,
            .bytes = f->bytes,
        };
    }
    t->pair_count = nuioa_pairs_merge(t->pairs, t->pair_count);
    return 0;
}

void nuioa_layout_traffic_free(struct nuioa_layout_traffic *t)
{
    free(t->pairs);
    *t = (struct nuioa_layout_traffic){ 0 };
}

bool nuioa_layout_spread(uint32_t ranks, uint32_t node_count, const uint32_t *room, uint32_t *tasks)
{
    memset(tasks, 0, node_count * sizeof(*tasks));
    for (uint32_t left = ranks; left;) {
        uint32_t before = left;
        for (uint32_t node = 0; node < node_count && left; node++)
            if (tasks[node] < room[node]) {
                tasks[node]++;
                left--;
            }
        if (left == before)
            return false;
    }
    return true;
}

void nuioa_layout_block(uint32_t node_count, const uint32_t *tasks, uint32_t *node_of)
{
    uint32_t rank = 0;
    for (uint32_t node = 0; node < node_count; node++)
        for (uint32_t k = 0; k < tasks[node]; k++)
            node_of[rank++] = node;
}

void nuioa_layout_cyclic(uint32_t node_count, const uint32_t *tasks, uint32_t *node_of)
{
    uint32_t rank = 0, before = 1;
    for (uint32_t round = 0; rank != before; round++) {
        before = rank;
        for (uint32_t node = 0; node < node_count; node++)
            if (tasks[node] > round)
                node_of[rank++] = node;
    }
}

int nuioa_layout_measure(const struct nuioa_layout_traffic *t, const struct nuioa_network *network,
                         const uint32_t *node_of, struct nuioa_layout_figures *figures)
{
    double *of_node = calloc((size_t)network->node_count + 1, sizeof(*of_node));
    *figures = (struct nuioa_layout_figures){ 0 };
    if (!of_node)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->pair_count; i++) {
        const struct nuioa_pair *pair = &t->pairs[i];
        uint32_t a = node_of[pair->first], b = node_of[pair->second];
        if (a == b)
            continue;
        of_node[a] += pair->bytes;
        of_node[b] += pair->bytes;
        figures->off_node_bytes += pair->bytes;
        if (network->level_count && network->group[a] != network->group[b])
            figures->off_switch_bytes += pair->bytes;
        figures->cost += pair->bytes * nuioa_network_distance(network, a, b);
    }
    for (uint32_t node = 0; node < network->node_count; node++)
        if (of_node[node] > figures->busiest_bytes)
            figures->busiest_bytes = of_node[node];
    free(of_node);
    return 0;
}
