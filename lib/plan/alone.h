/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_ALONE_H
#define NUIOA_PLAN_ALONE_H

#include "plan/planner.h"

/* Placement of a rank that is alone on its node, by its NIC. All functions set the plan's reason,
 * and return 0 or -ENOMEM. Private to the library. */

/* Moves a rank that Slurm bound nearer the NIC if the step has spare cores there (plan/spare.h). */
int nuioa_alone_place(struct planner *planner);

/* Gives a rank that has all CPUs of the step as many of them as the user asked for, those nearest
 * the NIC; and all of them if the user did not say how many. */
int nuioa_alone_unbound(struct planner *planner);

/* Returns true if the CPUs of the rank span NUMA nodes. It sets no reason. */
bool nuioa_alone_is_wide(const struct planner *planner);

#endif
