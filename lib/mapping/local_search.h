/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_LOCAL_SEARCH_H
#define NUIOA_MAPPING_LOCAL_SEARCH_H

#include "mapping/class_assignment.h"

/* Searches change an assignment step by step. This holds for all of them (also descend.h,
 * neighbourhood_search.h): a search adds its work to *budget and stops when it is used up, changes
 * only the assignment, and never raises J. Each returns 0 or -ENOMEM, and the assignment is valid
 * in both cases. */

/* Exchanges all tasks of one class with all tasks of another wherever that lowers J, if both have
 * one kind and equally many slots. Then, if `kicks`, it some times exchanges three random pairs of
 * classes (a kick) and improves again: iterated local search (H. Lourenco, O. Martin, T. Stutzle,
 * "Iterated Local Search", 2003). At the end it calls nuioa_descend.
 *
 * `best` is the lowest cost (`cost` in class_assignment.h) that other assignments have reached. The
 * search stops early when J is too far above it for nuioa_descend to make up for it; with INFINITY
 * it never stops early. Returns as all searches do; to stop early is no error. */
int nuioa_local_search(struct nuioa_class_assignment *assignment, bool kicks, double best,
                       struct nuioa_budget *budget);

#endif
