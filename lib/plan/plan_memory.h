/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_MEMORY_H
#define NUIOA_PLAN_PLAN_MEMORY_H

#include "plan/planner.h"

/* The memory of a rank, from its CPUs and NICs. Private to the library. */

/* Sets `memory` and `memory_numas` of an assignment, which has its CPUs, NUMA nodes and NICs; and
 * may add to plan->advice. A policy of the user's is kept. There is none where ranks are not bound,
 * where NUMA nodes cut through cores, or when an allocation fails. It names only NUMA nodes whose
 * memory the step may use. mem=off sets none: a thread's first touch keeps memory beside it, also
 * if the program binds itself. mem=local prefers the memory of the rank's CPUs, if that is one NUMA
 * node, or if the user said that there is one thread; not if the user bound the ranks. mem=nic
 * prefers the memory of its NIC, interleaved over those of all its NICs if it is alone.
 * mem=interleave interleaves over the NUMA nodes of all rails: data that arrives by two rails is
 * faster there than in either NUMA node ([PDCS 2007] in doc/design.md, section 5.3). */
void nuioa_plan_memory(const struct planner *planner, struct nuioa_assignment *assignment);

#endif
