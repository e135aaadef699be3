/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_NEIGHBOURHOOD_SEARCH_H
#define NUIOA_MAPPING_NEIGHBOURHOOD_SEARCH_H

#include "mapping/class_assignment.h"
#include "mapping/random.h"

/* Large neighbourhood search: P. Shaw, "Using Constraint Programming and Local Search Methods to
 * Solve Vehicle Routing Problems", 1998. It removes the tasks of a few classes and assigns them
 * anew by bisection while all other tasks stay; it keeps the result if J falls; it repeats with
 * other classes, drawn with `random`, until the budget is used up. So the budget must be finite.
 * With one class there is nothing to do. The graph must have tasks. Returns 0 or -ENOMEM; the
 * assignment is valid in either case. local_search.h says what holds for all searches. */
int nuioa_neighbourhood_search(struct nuioa_class_assignment *assignment,
                               struct nuioa_random *random, struct nuioa_budget *budget);

#endif
