/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_ALONE_H
#define NUIOA_PLAN_ALONE_H

#include "plan/planner.h"

/* Placement of a rank that is alone on its node, by its NIC. Both functions that place it set the
 * plan's reason, and leave the rank where it is if J would rise. They return -ENOMEM, or a number
 * that is not negative. Private to the library. */

/* Moves a rank that Slurm bound nearer the NIC, to free cores of the step (slots/free_cores.h); or
 * to these and its own, if it spans NUMA nodes. */
int nuioa_alone_place(struct planner *planner);

/* Gives a rank that has all CPUs of the step as many of them as the user asked for, those nearest
 * the NIC; and all of them if the user did not say how many. */
int nuioa_alone_unbound(struct planner *planner);

/* Returns true if the CPUs of the rank span NUMA nodes. */
bool nuioa_alone_is_wide(const struct planner *planner);

#endif
