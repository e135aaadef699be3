/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_LOAD_H
#define NUIOA_MAPPING_LOAD_H

#include "mapping/problem.h"

/* The load of the cards under a mapping (struct nuioa_load in problem.h). All functions are for
 * problems that have one. Loads are in the unit of weights. */

/* Returns W, the weight that counts for the cards. It is the load of each card if the weight is
 * spread by rate, and no mapping has a lower largest load. */
double nuioa_load_even(const struct nuioa_problem *problem);

/* Return the card that the task takes in the slot: of those near it, the one whose load is least
 * with the task's weight on it. load[card_count] is the load of each card; the second function adds
 * that weight to it. */
uint32_t nuioa_load_choose(const struct nuioa_load *load_term, const double *load, uint32_t task,
                           uint32_t slot);
uint32_t nuioa_load_add(const struct nuioa_load *load_term, double *load, uint32_t task,
                        uint32_t slot);

/* Fills the caller's load[card_count] with the load of each card under slot_of[task_count], and
 * card_of[task_count], unless it is NULL, with the card of each task. Returns the largest load. */
double nuioa_loads(const struct nuioa_problem *problem, const uint32_t *slot_of, double *load,
                   uint32_t *card_of);

/* Returns a lower bound for the largest load: no mapping has a lower one. It holds even if tasks
 * spread their weight over all cards near their slots. Returns nuioa_load_even, which is a bound
 * too, if there is no memory. */
double nuioa_load_bound(const struct nuioa_problem *problem);

/* Numbers the classes of slots: class_of[slot_count]. Slots of a class are equal for every task and
 * have the same cards near. first[k] becomes a slot of class k; the caller's array has slot_count
 * elements. Returns how many classes there are. */
uint32_t nuioa_number_classes(const struct nuioa_problem *problem, uint32_t *class_of,
                              uint32_t *first);

#endif
