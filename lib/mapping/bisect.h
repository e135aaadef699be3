/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_BISECT_H
#define NUIOA_MAPPING_BISECT_H

#include "mapping/graph.h"
#include "mapping/random.h"

/* Dual recursive bipartitioning: F. Pellegrini, "Static Mapping by Dual Recursive Bipartitioning of
 * Process and Architecture Graphs", 1994. The machine and the tasks are halved together until each
 * part of the machine is one class of slots. The NIC cost and the neighbours that are already in
 * other parts enter each bipartition as a linear term (terminal propagation: A. Dunlop, B.
 * Kernighan, "A Procedure for Placement of Standard-Cell VLSI Circuits", 1985). The mapper repeats
 * this, with a local search after each, until its budget is used up: the budget must be finite. It
 * does not apply (-EINVAL) if all tasks are pinned, or if a division does not fit (below). */
extern const struct nuioa_mapper nuioa_bisect;

/* Assigns the graph's tasks to classes once, without local search: fills the caller's at[count]
 * with the class of each task. Two things are unknown before the end: how the machine is best
 * halved, and what a byte inside a half will cost. `variant` chooses the assumptions; there are
 * six, and variant + 6 is the same as variant. `tries` bipartitions are made of each part and the
 * best is taken; more tries give better bipartitions, fewer give more varied results. When the
 * budget is used up, it finishes, but no longer improves the bipartitions. *random is the source of
 * random numbers, and is advanced. Returns 0, or -ENOMEM, or -EINVAL if the result does not fit: a
 * class has more tasks than slots, or tasks of another kind. After an error at[] is undefined. */
int nuioa_bisect_once(const struct nuioa_graph *graph, uint32_t variant, uint32_t tries,
                      struct nuioa_random *random, uint32_t *at, struct nuioa_budget *budget);

#endif
