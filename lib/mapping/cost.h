/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_COST_H
#define NUIOA_MAPPING_COST_H

#include "mapping/problem.h"

/* Returns J of slot_of[task_count]. */
double nuioa_cost(const struct nuioa_problem *problem, const uint32_t *slot_of);

/* Returns a lower bound: no mapping has a lower J. The first term is the optimum for weights alone,
 * without pinned tasks; each pair is charged the lowest domain_cost. Returns 0 if there is no
 * memory. */
double nuioa_cost_bound(const struct nuioa_problem *problem);

#endif
