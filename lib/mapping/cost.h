/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_COST_H
#define NUIOA_MAPPING_COST_H

#include "mapping/problem.h"

/* Both functions return a cost J, in the unit of the traffic (problem.h). */

/* Returns J of the mapping slot_of[task_count]. */
double nuioa_cost(const struct nuioa_problem *problem, const uint32_t *slot_of);

/* Returns a lower bound of J for the problem: no mapping has a lower one. It is the sum of three
 * bounds: the least price of reaching the NIC that is possible if no task is pinned, the price of
 * all traffic between tasks if each pair pays the lowest domain_cost, and the price of the load
 * that nuioa_load_bound (mapping/load.h) returns. Returns 0, which is a bound too, if there is no
 * memory or a kind has more tasks than slots. */
double nuioa_cost_bound(const struct nuioa_problem *problem);

#endif
