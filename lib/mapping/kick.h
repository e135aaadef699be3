/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_KICK_H
#define NUIOA_MAPPING_KICK_H

#include "mapping/class_assignment.h"
#include "mapping/random.h"

/* Iterated local search (H. Lourenco, O. Martin, T. Stutzle, "Iterated Local Search", 2003) for
 * small problems: moves a few random tasks (a kick), runs nuioa_descend, and keeps the result
 * unless J is higher, until the budget is used up. Returns as all searches do (local_search.h). */
int nuioa_kick_tasks(struct nuioa_class_assignment *assignment, struct nuioa_random *random,
                     struct nuioa_budget *budget);

#endif
