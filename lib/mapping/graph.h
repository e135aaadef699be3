/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_GRAPH_H
#define NUIOA_MAPPING_GRAPH_H

#include <stdint.h>

#include "mapping/mapping.h"
#include "util/arena.h"

/* A problem as the mappers work on it, made once: pinned tasks have become part of the costs of the
 * others, slots that make no difference to J have become seats of one class, traffic is by task. */

struct nuioa_class {
    uint32_t kind;  /* index, < kind_count */
    uint32_t slots; /* free slots, >= 1 */
    double nic_cost;
    uint32_t domain; /* one of those merged into it */
};

#define NUIOA_NO_CLASS UINT32_MAX

struct nuioa_graph {
    struct nuioa_arena arena;
    uint32_t count; /* tasks that may move; all that follows numbers only these */
    uint32_t *task; /* [count]: index in the problem */
    uint32_t *kind; /* [count] */
    uint32_t kind_count;
    uint32_t class_count;
    struct nuioa_class *classes;
    uint32_t *class_of; /* [slot_count]; NUIOA_NO_CLASS: a pinned task sits there */
    double *distance;   /* [class_count * class_count]; the diagonal: two seats of one class */
    double *linear;     /* [count * class_count]: NIC and pinned neighbours */
    uint32_t *row;      /* [count + 1]: neighbours of i are row[i] .. row[i+1]-1 of the next two */
    uint32_t *peer;
    double *bytes;
    double *dense; /* [count * count], where most pairs talk; else NULL */
};

/* 0, -ENOMEM, or -EINVAL if a task's kind has no slot. The caller frees with nuioa_graph_free, also
 * after an error. The problem must outlive it. */
int nuioa_graph_make(const struct nuioa_problem *problem, struct nuioa_graph *graph);
void nuioa_graph_free(struct nuioa_graph *graph);

/* The problem's own graph, or one made into *own (freed by the caller either way). NULL: no
 * memory. */
const struct nuioa_graph *nuioa_graph_of(const struct nuioa_problem *problem,
                                         struct nuioa_graph *own);

/* More than a quarter of all pairs talk: no group of tasks stands out. */
static inline bool nuioa_graph_is_dense(const struct nuioa_graph *graph)
{
    return graph->row[graph->count] > (uint64_t)graph->count * graph->count / 4;
}

static inline const double *nuioa_distances(const struct nuioa_graph *graph, uint32_t slot_class)
{
    return graph->distance + (size_t)slot_class * graph->class_count;
}

#endif
