/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_REFINE_H
#define NUIOA_MAPPING_REFINE_H

#include "mapping/problem.h"

/* Improves the mapping in slot_of[task_count], the slot of each task, of a problem that has a
 * graph. It exchanges whole classes, then moves and swaps single tasks, until nothing lowers J or
 * the budget is used up. A `thorough` one spends all of the budget, which must be finite: on large
 * neighbourhood search (neighbourhood_search.h) or, with few tasks, on iterated local search (H.
 * Lourenco, O. Martin, T. Stutzle, "Iterated Local Search", 2003), which moves a few random tasks
 * (a kick), descends, and keeps the result unless J is higher. The work is added to *budget.
 * slot_of stays as it is if there is no memory. */
void nuioa_refine(const struct nuioa_problem *problem, uint32_t *slot_of, bool thorough,
                  struct nuioa_budget *budget);

#endif
