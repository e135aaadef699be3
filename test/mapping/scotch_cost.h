/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SCOTCH_COST_H
#define SCOTCH_COST_H

#include "instance.h"

/* Returns J of the better of two Scotch mappings, by its default and by its quality strategy, each
 * improved by nuioa_refine; INFINITY if Scotch fails. With `nic` the NIC is a vertex that is fixed
 * to its domain. slot_of[task_count] is scratch. */
double scotch_cost(const struct instance *in, bool nic, uint32_t *slot_of);

#endif
