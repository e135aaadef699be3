/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_UNWEIGHTED_H
#define NUIOA_PLAN_UNWEIGHTED_H

#include "plan/planner.h"
#include "slots/slot.h"

/* Placement that needs no weights: of the only rank of a node, and of several without hints. The
 * functions that place set the plan's CPUs and reason, and leave ranks where they are if J would
 * rise. They return -ENOMEM, or a number that is not negative. Private to the library. */

/* Moves the only rank, which Slurm bound, nearer the NIC, to free cores of the step
 * (slots/free_cores.h); or to these and its own, if it spans NUMA nodes. */
int nuioa_alone_place(struct planner *planner);

/* Gives the only rank, which has all CPUs of the step, as many of them as the user asked for, those
 * nearest the NIC; and all of them if the user did not say how many. */
int nuioa_alone_unbound(struct planner *planner);

/* Returns true if the CPUs of the only rank span NUMA nodes. */
bool nuioa_alone_is_wide(const struct planner *planner);

/* Without hints: moves the block of the lowest rank near the NIC (slots/rank_block.h), also to
 * free cores where it may. `slots` are the masks that Slurm gave, priced. */
int nuioa_rank_block_place(struct planner *planner, const struct nuioa_slots *slots);

#endif
