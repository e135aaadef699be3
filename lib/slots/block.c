/* SPDX-License-Identifier: BSD-3-Clause */
#include "slots/block.h"

#include <errno.h>

static int blocks_alloc(struct nuioa_blocks *b, uint32_t tasks, struct nuioa_arena *arena)
{
    *b = (struct nuioa_blocks){ 0 };
    b->of = nuioa_arena_take(arena, tasks, sizeof(*b->of));
    b->position = nuioa_arena_take(arena, tasks, sizeof(*b->position));
    b->size = nuioa_arena_take(arena, tasks, sizeof(*b->size));
    b->first = nuioa_arena_take(arena, tasks, sizeof(*b->first));
    b->kind = nuioa_arena_take(arena, tasks, sizeof(*b->kind));
    b->shares = nuioa_arena_take(arena, tasks, sizeof(*b->shares));
    return arena->failed ? -ENOMEM : 0;
}

bool nuioa_block_takes(const struct nuioa_blocks *b, uint32_t i, uint32_t k)
{
    return b->shares[b->of[k]] ? b->first[b->of[k]] == k : b->position[k] == b->position[i];
}

bool nuioa_blocks_alike(const struct nuioa_blocks *b, const struct nuioa_slots *slots, uint32_t x,
                        uint32_t y)
{
    if (b->shares[x] != b->shares[y] || (!b->shares[x] && b->size[x] != b->size[y]))
        return false;
    for (uint32_t i = 0; i < slots->count; i++)
        for (uint32_t k = 0; b->of[i] == x && k < slots->count; k++)
            if (b->of[k] == y && nuioa_block_takes(b, i, k) && slots->kind[k] != slots->kind[i])
                return false;
    return true;
}

/* Up to so many ranks may each be a block; more would lengthen a launch. */
#define ALONE_MAX 8

/* Makes each rank a block. Returns false if they are too many, or if masks overlap. */
static bool split_blocks(struct nuioa_blocks *b, const struct nuioa_slots *slots)
{
    const uint32_t tasks = slots->count;
    for (uint32_t i = 0; tasks <= ALONE_MAX && i < tasks; i++)
        for (uint32_t k = 0; k < i; k++)
            if (hwloc_bitmap_intersects(slots->cpus[i], slots->cpus[k]))
                return false;
    b->split = true;
    for (b->count = 0; b->count < tasks; b->count++) {
        b->of[b->count] = b->first[b->count] = b->count;
        b->position[b->count] = 0;
        b->size[b->count] = 1;
        b->shares[b->count] = true;
    }
    return tasks <= ALONE_MAX;
}

/* Makes blocks of the ranks that have the same NUMA nodes. Returns false if two ranks have only
 * some in common. */
static bool join_blocks(const struct nuioa_node *node, const struct nuioa_slots *slots,
                        struct nuioa_blocks *b)
{
    for (uint32_t i = 0; i < slots->count; i++) {
        uint32_t x = 0;
        for (bool meet; x < b->count; x++)
            if (nuioa_same_numas(node, slots->cpus[i], slots->cpus[b->first[x]], &meet))
                break;
            else if (meet)
                return false;
        if (x == b->count)
            b->first[b->count++] = i;
        b->of[i] = x;
        b->position[i] = b->size[x]++;
        b->shares[x] =
            b->size[x] == 1 ||
            (b->shares[x] && hwloc_bitmap_isequal(slots->cpus[i], slots->cpus[b->first[x]]));
    }
    return true;
}

int nuioa_blocks_find(struct nuioa_blocks *b, const struct nuioa_node *node,
                      const struct nuioa_slots *slots, struct nuioa_arena *arena)
{
    if (blocks_alloc(b, slots->count, arena) < 0)
        return -ENOMEM;
    if (!join_blocks(node, slots, b) && !split_blocks(b, slots))
        return -ENOTSUP;
    for (uint32_t x = 0; x < b->count; x++) {
        uint32_t like = 0;
        while (!nuioa_blocks_alike(b, slots, like, x))
            like++;
        b->kind[x] = like;
    }
    return 0;
}
