/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXACT_H
#define EXACT_H

#include "mapping/mapping.h"

/* Returns the minimal J, found by branch and bound over domains, or `known`, the J of some mapping,
 * if none is lower. The problem must have fewer than 16 tasks, no pinned task, slots of one kind,
 * and equal nic_cost for all slots of a domain. */
double exact_cost(const struct nuioa_problem *problem, double known);

#endif
