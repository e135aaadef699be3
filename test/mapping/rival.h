/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RIVAL_H
#define RIVAL_H

#include "instance.h"

/* J of Scotch's best mapping (its default and its quality strategy), improved by our swaps; with
 * `nic` the NIC is a vertex pinned to its domain. Overfull domains are emptied first, at the least
 * cost. */
double scotch_cost(const struct instance *in, bool nic, uint32_t *slot_of);

#endif
