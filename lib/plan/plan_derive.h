/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_DERIVE_H
#define NUIOA_PLAN_PLAN_DERIVE_H

#include "plan/planner.h"

/* The second step of a plan: derives everything that follows from the CPUs of the ranks. Private to
 * the library.
 *
 * It sets NUMA nodes, NIC, level, memory and OMP places of every assignment, and the leaders of the
 * plan. 0 or -ENOMEM. */
int nuioa_plan_derive(struct planner *planner);

#endif
