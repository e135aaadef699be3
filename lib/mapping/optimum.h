/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_OPTIMUM_H
#define NUIOA_MAPPING_OPTIMUM_H

#include "mapping/problem.h"

/* Returns a lower bound of J for a small problem with problem->load, found by branch and bound (A.
 * Land, A. Doig, "An Automatic Method of Solving Discrete Programming Problems", 1960): the lowest
 * J that there would be if tasks could divide their weight among the cards near their slots. It is
 * the lowest J if no slot has two cards near. `known` is the J of some mapping, and the result is
 * not above it. Returns -INFINITY if that takes too long; for problems with more than 16 tasks, 16
 * classes of slots, or 6 cards; if problem->pinned is not NULL; or if there is no memory. *budget
 * is only added to. */
double nuioa_optimum(const struct nuioa_problem *problem, double known,
                     struct nuioa_budget *budget);

#endif
