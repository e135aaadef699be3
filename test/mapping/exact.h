/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXACT_H
#define EXACT_H

#include "mapping/mapping.h"

/* The least J there is, by branch and bound over domains; `known` is the J of some mapping. Without
 * pins and with slots of one kind; all slots of a domain must be equally far from the NIC. */
double exact_cost(const struct nuioa_problem *problem, double known);

#endif
