/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_LOAD_SEARCH_H
#define NUIOA_MAPPING_LOAD_SEARCH_H

#include "mapping/problem.h"

/* Up to this many tasks a problem is small. */
#define NUIOA_LOAD_SMALL 32

/* Improves the mapping slot_of[task_count] of a problem with problem->load: swaps two tasks, or
 * moves one to a free slot, as long as J falls, or stays and the loads become more even. Where
 * swaps alone would take neighbours apart, a group changes places: a task that uses the most loaded
 * card first, then each time the pair that raises J least, until J is lower than before (B. W.
 * Kernighan, S. Lin, "An Efficient Heuristic Procedure for Partitioning Graphs", 1970). Of a small
 * problem a `thorough` search then tries some mappings in which a few random tasks were swapped.
 * The work is added to *budget, and the search ends when it is used up. Returns 0; or -ENOMEM, and
 * slot_of is unchanged. */
int nuioa_load_search(const struct nuioa_problem *problem, uint32_t *slot_of, bool thorough,
                      struct nuioa_budget *budget);

#endif
