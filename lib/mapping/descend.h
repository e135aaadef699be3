/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_DESCEND_H
#define NUIOA_MAPPING_DESCEND_H

#include "mapping/class_assignment.h"

/* Descent: swaps each task with its best partner, or moves it to its best free slot, until nothing
 * lowers J or the budget is used up. Returns 0; or -ENOMEM, and the assignment is unchanged.
 * local_search.h says what holds for all searches. */
int nuioa_descend(struct nuioa_class_assignment *assignment, struct nuioa_budget *budget);

#endif
