/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_THREADS_H
#define NUIOA_PLAN_PLAN_THREADS_H

#include "plan/planner.h"

/* The threads of a rank, from its CPUs and NIC. Private to the library. */

/* Sets `places` of an assignment, and may add to plan->advice: one OMP place for each core, the
 * core nearest the rank's NIC first, because thread 0, which communicates, belongs there. A rank
 * gets none if it has one core, with threads=off, with the mode off, and if it did not move and
 * shares its CPUs or was left unbound by the user. Returns 0 or -ENOMEM. */
int nuioa_plan_threads(struct planner *planner, struct nuioa_assignment *assignment);

/* Returns true if variables are to bind the threads: threads=on, ranks are bound, and somebody said
 * that they have CPUs for several. */
bool nuioa_plan_binds_threads(const struct planner *planner);

#endif
