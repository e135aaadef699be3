/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_BLOCK_H
#define NUIOA_PLAN_BLOCK_H

#include "plan/slot.h"

/* Without hints nobody knows which ranks are heavy, but every MPI in use elects the lowest local
 * rank as the leader of its node: so the block of ranks that share a NUMA node with it goes beside
 * the NIC, as a whole, and blocks of equal size make room. Private to the library. */

enum nuioa_block_result {
    NUIOA_BLOCK_MOVED,
    NUIOA_BLOCK_NEAREST, /* it already is as near as a block of its size can be */
    NUIOA_BLOCK_SPREAD,  /* some rank's CPUs span NUMA nodes: there are no blocks */
    NUIOA_BLOCK_TEARS,   /* any move would take neighbouring ranks farther apart */
};

/* Neighbours are consecutive local ranks: the sum of their distances must not rise, and ranks that
 * share a NUMA node stay together. `slots` are Slurm's own, priced. slot_of[task_count] is written
 * in every case. A result, or -ENOMEM. */
int nuioa_block_move(const struct nuioa_request *request, const struct nuioa_slots *slots,
                     const struct nuioa_rails *rails, uint32_t *slot_of);

#endif
