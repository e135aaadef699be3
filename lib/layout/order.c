/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout/order.h"

#include <stdlib.h>

/* place[] is the order of the nodes by their first ranks. least[k] is the first place that the node
 * of the next k-th rank may have, if the order by k-th ranks is the same. */
bool nuioa_order_is_safe(const uint32_t *node_of, uint32_t rank_count, uint32_t node_count)
{
    uint32_t *ranks_of = calloc(2 * (size_t)node_count + rank_count + 1, sizeof(*ranks_of));
    bool safe = true;
    if (!ranks_of)
        return false;
    uint32_t *place = ranks_of + node_count, *least = place + node_count;
    for (uint32_t i = 0; i < rank_count && safe; i++) {
        uint32_t node = node_of[i], k = ranks_of[node]++;
        if (!k)
            place[node] = least[0];
        safe = place[node] >= least[k];
        least[k] = place[node] + 1;
    }
    free(ranks_of);
    return safe;
}

#define NO_NODE UINT32_MAX

/* Returns a node that is not taken, `wanted` if possible, and takes it. There is one. */
static uint32_t take_node(uint32_t *ranks_of, uint32_t wanted)
{
    uint32_t node = wanted;
    if (!ranks_of[wanted])
        for (node = 0; !ranks_of[node];)
            node++;
    ranks_of[node] = 0;
    return node;
}

/* Puts one node's ranks where the pattern begins with the rank `first`. Returns false if one of
 * them is not there or has a node. */
static bool put_pattern(const uint32_t *pattern, uint32_t count, uint32_t first, uint32_t node,
                        uint32_t rank_count, uint32_t *repeated)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = first + pattern[i] - pattern[0];
        if (rank >= rank_count || repeated[rank] != NO_NODE)
            return false;
        repeated[rank] = node;
    }
    return true;
}

bool nuioa_order_repeat(const uint32_t *node_of, uint32_t rank_count, uint32_t node_count,
                        uint32_t node, uint32_t *repeated)
{
    uint32_t *ranks_of = calloc((size_t)node_count + 1, sizeof(*ranks_of)), count = 0;
    uint32_t *pattern = malloc(((size_t)rank_count + 1) * sizeof(*pattern));
    bool fits = ranks_of && pattern;
    for (uint32_t i = 0; i < rank_count && fits; i++) {
        ranks_of[node_of[i]]++;
        repeated[i] = NO_NODE;
        if (node_of[i] == node)
            pattern[count++] = i;
    }
    for (uint32_t i = 0; i < node_count && fits; i++)
        fits = !ranks_of[i] || ranks_of[i] == count;
    for (uint32_t i = 0; i < rank_count && fits; i++)
        if (repeated[i] == NO_NODE)
            fits = put_pattern(pattern, count, i, take_node(ranks_of, node_of[i]), rank_count,
                               repeated);
    free(ranks_of);
    free(pattern);
    return fits;
}
