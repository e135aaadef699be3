/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_BLOCK_PLACE_H
#define NUIOA_PLAN_BLOCK_PLACE_H

#include "plan/planner.h"
#include "slots/slot.h"

/* Without hints: moves the block of the lowest rank near the NIC (slots/rank_block.h), also to
 * free cores where it may (slots/free_cores.h), and sets the plan's CPUs and reason. `slots` are
 * the masks that Slurm gave, priced. Returns -ENOMEM, or a number that is not negative. Private to
 * the library. */
int nuioa_rank_block_place(struct planner *planner, const struct nuioa_slots *slots);

#endif
