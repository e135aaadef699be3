/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_BLOCK_H
#define NUIOA_SLOTS_BLOCK_H

#include "slots/slot.h"
#include "util/arena.h"

/* A block is the set of ranks that have the same NUMA nodes. Where ranks have only some NUMA nodes
 * in common, each rank is a block if they are few and no masks overlap. Blocks are indexes, in the
 * order of their lowest ranks. Private to the library. */

struct nuioa_blocks {
    uint32_t count;
    uint32_t *of;       /* [task_count]: the block of a task */
    uint32_t *position; /* [task_count]: its position in the block, by local rank */
    uint32_t *size;     /* [count] */
    uint32_t *first;    /* [count]: its lowest local rank */
    uint32_t *kind;     /* [count]: equal for blocks that can change places */
    bool *shares;       /* [count]: all of its ranks have one mask */
    bool split;         /* each rank is a block */
};

/* Finds the blocks of Slurm's masks, `slots`, and their kinds. The arrays belong to `arena`.
 * Returns 0; -ENOTSUP if ranks have only some NUMA nodes in common and cannot be a block each; or
 * -ENOMEM. */
int nuioa_blocks_find(struct nuioa_blocks *blocks, const struct nuioa_node *node,
                      const struct nuioa_slots *slots, struct nuioa_arena *arena);

/* Returns true if blocks x and y can change places: all ranks of each share one mask, or they have
 * the same size; and the slots that ranks change are of the same kind. */
bool nuioa_blocks_alike(const struct nuioa_blocks *blocks, const struct nuioa_slots *slots,
                        uint32_t x, uint32_t y);

/* Returns true if rank i has the mask of rank k when its block is in the place of rank k's, which
 * is alike. */
bool nuioa_block_takes(const struct nuioa_blocks *blocks, uint32_t i, uint32_t k);

#endif
