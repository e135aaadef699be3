/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_GRAPH_H
#define NUIOA_MAPPING_GRAPH_H

#include <stdint.h>

#include "mapping/problem.h"
#include "util/arena.h"

/* The form of a problem that the mappers work on. It has only the tasks that may move: pinned tasks
 * are part of the others' linear costs. Slots that make no difference to J are one class. Traffic
 * is a graph in compressed sparse rows. */

/* A class of slots: all have one kind, one nic_cost and the same distances to every other slot. A
 * class is named by its index in `classes`. */
struct nuioa_class {
    uint32_t kind;   /* index, < kind_count */
    uint32_t slots;  /* slots without a pinned task, >= 1 */
    double nic_cost; /* as in struct nuioa_problem */
    uint32_t domain; /* one domain of those that were merged into the class */
};

/* The class of a slot that a pinned task has. */
#define NUIOA_NO_CLASS UINT32_MAX

struct nuioa_graph {
    struct nuioa_arena arena; /* owns all arrays */
    uint32_t count;           /* tasks that may move; all other members number only these */
    uint32_t *task;           /* [count]: index in the problem */
    uint32_t *kind;           /* [count]: index, < kind_count */
    uint32_t kind_count;
    uint32_t class_count;
    struct nuioa_class *classes; /* [class_count] */
    uint32_t *class_of;          /* [slot_count]; NUIOA_NO_CLASS: the slot of a pinned task */
    double *distance; /* [class_count * class_count]: the price of one byte; the diagonal is that
                           between two slots of one class */
    double *linear; /* [count * class_count]: the price of the NIC and of pinned neighbours, in J */
    uint32_t *row;  /* [count + 1]: neighbours of i are row[i] .. row[i+1]-1 of the next two */
    uint32_t *peer; /* [row[count]]: the neighbour */
    double *bytes;  /* [row[count]]: traffic with it, the sum of both directions */
    double *dense; /* [count * count]: the same by pair, if the rows are long and not too many; else
                    NULL */
};

/* Makes the graph of a problem; *graph is overwritten and keeps no pointer into the problem.
 * Returns 0, -ENOMEM, or -EINVAL if a task's kind has no slot. The caller frees it with
 * nuioa_graph_free, also after an error. */
int nuioa_graph_make(const struct nuioa_problem *problem, struct nuioa_graph *graph);

/* Frees the arrays of the graph, but not `graph` itself. A graph that is all zeros has none. */
void nuioa_graph_free(struct nuioa_graph *graph);

/* Returns true if more than a quarter of all pairs of tasks communicate. Then no group of tasks is
 * clearly separate from the others. It does not say whether `dense` is there. */
static inline bool nuioa_graph_is_dense(const struct nuioa_graph *graph)
{
    return graph->row[graph->count] > (uint64_t)graph->count * graph->count / 4;
}

/* Returns the prices of one byte between the class `slot_class` and each class, a row of
 * `distance`: [class_count]. The graph owns it. */
static inline const double *nuioa_distances(const struct nuioa_graph *graph, uint32_t slot_class)
{
    return graph->distance + (size_t)slot_class * graph->class_count;
}

#endif
