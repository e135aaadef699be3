/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_DESCEND_H
#define NUIOA_MAPPING_DESCEND_H

#include "mapping/class_assignment.h"

/* Steepest descent over exchanges: swaps two tasks, or moves one task to a free slot, until nothing
 * lowers J or the budget is used up. Returns 0 or -ENOMEM. */
int nuioa_descend(struct nuioa_class_assignment *assignment, struct nuioa_budget *budget);

#endif
