/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_ANNEAL_H
#define NUIOA_MAPPING_ANNEAL_H

#include "mapping/class_assignment.h"
#include "mapping/random.h"

/* Simulated annealing: S. Kirkpatrick, C. Gelatt, M. Vecchi, "Optimization by Simulated Annealing",
 * 1983. It tries random swaps, returns to the best assignment seen, and ends with a descent. The
 * swaps stop after `steps` evaluations, or before that when the budget is used up; the descent has
 * the rest of the budget. The start temperature is `heat` times the mean change of J by a random
 * swap: with 0.3 the result does not depend on where it began, with 0.02 it stays close to it.
 * *random is the source of random numbers, and is advanced. Returns 0 or -ENOMEM; the assignment
 * is valid in either case. local_search.h says what holds for all searches. */
int nuioa_anneal(struct nuioa_class_assignment *assignment, struct nuioa_random *random,
                 double heat, uint64_t steps, struct nuioa_budget *budget);

#endif
