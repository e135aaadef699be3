/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_REFINE_PAIRS_H
#define NUIOA_MAPPING_REFINE_PAIRS_H

#include "mapping/class_assignment.h"

/* Pairwise refinement: for each pair of classes of one kind whose tasks exchange something, divides
 * the tasks of both anew between them, as long as J falls and the budget lasts. Generalises the
 * pairwise procedure of B. Kernighan, S. Lin, "An Efficient Heuristic Procedure for Partitioning
 * Graphs", 1970. Returns 0; or -ENOMEM, and the assignment is unchanged. local_search.h says what
 * holds for all searches. */
int nuioa_refine_pairs(struct nuioa_class_assignment *assignment, struct nuioa_budget *budget);

#endif
