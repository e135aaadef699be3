/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_FREE_SLOTS_H
#define NUIOA_SLOTS_FREE_SLOTS_H

#include "slots/basis.h"
#include "slots/slot.h"

/* Makes slots of Slurm's masks, `own` (nuioa_slots_keep), and behind them of free cores among
 * `among` (OS indexes; slots/free_cores.h) that are nearer the NIC than some mask, or with several
 * NICs, which may be loaded more evenly there, as near; where CPUs follow GPUs those nearer a
 * rank's GPUs. *slots is overwritten, and priced. Free ones are made only where all masks have one
 * shape (slots/shape.h), which they then have too, and no more than so that no NUMA node can have
 * more ranks than one has now, or all that follow GPUs there. NULL for `among`: none. Returns 0 or
 * -ENOMEM; in both cases the caller frees *slots with nuioa_slots_free. Private to the library. */
int nuioa_free_slots_make(struct nuioa_slots *slots, const struct nuioa_basis *basis,
                          const struct nuioa_slots *own, hwloc_const_bitmap_t among);

#endif
