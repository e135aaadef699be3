/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_RANK_BLOCK_H
#define NUIOA_SLOTS_RANK_BLOCK_H

#include "slots/slot.h"

/* Placement of ranks without hints. Nobody knows which ranks are heavy then, but every MPI in use
 * chooses the lowest local rank as the leader of its node. The block of the lowest rank, all ranks
 * that have its NUMA nodes, moves as a whole to the NUMA node nearest the NIC: blocks of equal size
 * change places with it, and with free cores also others; or it goes to a NUMA node without ranks
 * where cores are free, and other blocks may follow it there. Private to the library. */

enum nuioa_rank_block_result {
    NUIOA_RANK_BLOCK_MOVED,     /* to a better placement */
    NUIOA_RANK_BLOCK_NEAREST,   /* no place for the block is nearer the NIC */
    NUIOA_RANK_BLOCK_SPREAD,    /* there are no blocks: ranks have only some NUMA nodes in common */
    NUIOA_RANK_BLOCK_SEPARATES, /* every move would take neighbouring ranks farther apart */
};

/* Moves the block of the lowest rank as near the NIC as it can, and of such orders takes the one in
 * which other blocks lose the fewest levels. Neighbours are consecutive local ranks: the sum of
 * their distances does not rise, unless that spares another block a loss. Ranks of a block stay
 * together.
 *
 * `slots` are the masks that Slurm gave (nuioa_slots_keep), priced by nuioa_slots_price.
 * Blocks may move to free cores among `among` (slots/free_cores.h); NULL: to none. There a
 * block keeps its shape (slots/shape.h), and none but the one that gives way to the lowest rank's
 * goes to a place that is farther from the NIC.
 *
 * Sets the CPUs of assignments[task_count], by local rank. Returns a nuioa_rank_block_result, or
 * -ENOMEM. With every result but NUIOA_RANK_BLOCK_MOVED these CPUs are undefined. */
int nuioa_rank_block_move(const struct nuioa_basis *basis, const struct nuioa_slots *slots,
                          hwloc_const_bitmap_t among, struct nuioa_assignment *assignments);

#endif
