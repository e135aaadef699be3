/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_FREE_CORES_H
#define NUIOA_SLOTS_FREE_CORES_H

#include "slots/slot.h"

/* Free cores: those cores of the step on which none of its ranks runs. Where the user asked for
 * placement, ranks that Slurm bound may move to them. Private to the library. */

/* Returns why other steps may use the free cores, NUIOA_REASON_FREE_UNCONFINED or
 * NUIOA_REASON_FREE_OVERLAP; or NUIOA_REASON_NONE if they are this step's alone. Whatever a user
 * asks for, ranks never move to cores that other steps may use. */
enum nuioa_reason nuioa_free_cores_shared(const struct nuioa_basis *basis);

/* Returns why no rank may move to free cores, a reason whose sentence says so and what to type; or
 * NUIOA_REASON_NONE if ranks may. */
enum nuioa_reason nuioa_free_cores_refused(const struct nuioa_basis *basis);

/* Returns the CPUs (OS indexes) that ranks could have if the user types something else, and that
 * belongs to the sentence: those of the step if `refused` is what nuioa_free_cores_refused has
 * returned; if it is NUIOA_REASON_NONE, or if nobody knows which CPUs are the step's, all of the
 * node's. They belong to the planner or to the node. */
hwloc_const_bitmap_t nuioa_free_cores_advised(const struct nuioa_basis *basis,
                                              enum nuioa_reason refused);

/* Returns the PUs of those cores that are with all of their PUs in `cpus`, and of which no rank has
 * any PU. Both are OS indexes. NULL: out of memory. */
hwloc_bitmap_t nuioa_free_cores_find(const struct nuioa_basis *basis, hwloc_const_bitmap_t cpus);

/* Makes slots of Slurm's masks, `own` (nuioa_slots_keep), and behind them of free cores among
 * `among` (OS indexes) that are nearer the NIC than some mask, or with several NICs, which may be
 * loaded more evenly there, as near; where CPUs follow GPUs those nearer a rank's GPUs. *slots is
 * overwritten, and priced. Free ones are made only where all masks have one shape (slots/shape.h),
 * which they then have too, and no more than so that no NUMA node can have more ranks than one has
 * now, or all that follow GPUs there. NULL for `among`: none. Returns 0 or -ENOMEM. */
int nuioa_free_slots_make(struct nuioa_slots *slots, const struct nuioa_basis *basis,
                          const struct nuioa_slots *own, hwloc_const_bitmap_t among);

#endif
