/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_REFINE_H
#define NUIOA_MAPPING_REFINE_H

#include "mapping/problem.h"

/* Improves the mapping in slot_of[task_count], the slot of each task (problem.h): exchanges whole
 * classes, then moves and swaps single tasks, until nothing lowers J or the budget is used up. The
 * work is added to *budget. slot_of stays as it is if there is no memory. */
void nuioa_refine(const struct nuioa_problem *problem, uint32_t *slot_of,
                  struct nuioa_budget *budget);

#endif
