/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_LOAD_FIRST_H
#define NUIOA_MAPPING_LOAD_FIRST_H

#include "mapping/problem.h"

/* Assigns tasks by descending weight, each to the slot where it pays least for the distance to the
 * NIC and for the load that its card then has. This is the rule "longest processing time first" (R.
 * L. Graham, "Bounds on Multiprocessing Timing Anomalies", 1969) with the distance added. It
 * ignores pairs. It applies to problems with problem->load only, in which each kind has as many
 * slots as tasks (else -EINVAL), whatever the budget. */
extern const struct nuioa_mapper nuioa_load_first;

#endif
