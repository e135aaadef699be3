/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIT_FREE_ORACLE_H
#define UNIT_FREE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

/* Draws a machine, masks and options from the seed, makes the plan, and judges whether ranks may be
 * on the free cores where it puts them, and whether a free NUMA node was overlooked. It uses none
 * of the planner's code. Any failure ends the test, and names the seed. Returns whether some rank
 * is on free cores. */
bool free_oracle_round(uint32_t seed);

#endif
