/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_LOCAL_SEARCH_H
#define NUIOA_MAPPING_LOCAL_SEARCH_H

#include "mapping/class_assignment.h"

/* Searches change an assignment step by step. This holds for all of them (also descend.h, kick.h,
 * neighbourhood_search.h): a search adds its work to *budget and stops when it is used up, changes
 * only the assignment, and never raises J. Each returns 0 or -ENOMEM, and the assignment is valid
 * in both cases. */

/* Exchanges all tasks of one class with all tasks of another wherever that lowers J, if both have
 * one kind and equally many slots. After that, if there are more than three classes, iterated local
 * search (H. Lourenco, O. Martin, T. Stutzle, "Iterated Local Search", 2003):
 * exchanges three random pairs of classes (a kick) and improves again, `kicks` times. Returns as
 * all searches do. */
int nuioa_swap_classes(struct nuioa_class_assignment *assignment, uint32_t kicks,
                       struct nuioa_budget *budget);

/* Returns a number of kicks that costs little compared with swaps of single tasks. */
static inline uint32_t nuioa_cheap_kicks(const struct nuioa_graph *graph)
{
    return graph->class_count <= 8 ? 32 : graph->class_count <= 16 ? 4 : 0;
}

/* Runs nuioa_swap_classes (with `kicks`), then nuioa_descend. `best` is the lowest cost (`cost` in
 * class_assignment.h) that other assignments have reached. The search stops early when J is too far
 * above it for nuioa_descend to make up for it; with INFINITY it never stops early. Returns as all
 * searches do; to stop early is no error. */
int nuioa_local_search(struct nuioa_class_assignment *assignment, uint32_t kicks, double best,
                       struct nuioa_budget *budget);

#endif
