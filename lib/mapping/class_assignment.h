/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_CLASS_ASSIGNMENT_H
#define NUIOA_MAPPING_CLASS_ASSIGNMENT_H

#include <math.h>

#include "mapping/graph.h"

/* A mapping under change: who is in which class, and what each task would pay in every class if all
 * others stayed. With that table the gain of a swap is a few additions; a change costs degree *
 * classes. */
struct nuioa_class_assignment {
    const struct nuioa_graph *graph;
    struct nuioa_arena arena;
    uint32_t *at;         /* [count]: class */
    uint32_t *free_slots; /* [class_count]: free slots */
    double *price;        /* [count * class_count] */
    double cost;          /* J of what moves, followed through all changes */
};

/* 0 or -ENOMEM; the caller closes either way. Nobody is seated until nuioa_assign_all. */
int nuioa_class_assignment_open(struct nuioa_class_assignment *assignment,
                                const struct nuioa_graph *graph);
void nuioa_class_assignment_close(struct nuioa_class_assignment *assignment);

/* Seats everybody anew as in at[count], which may be seating->at. */
void nuioa_assign_all(struct nuioa_class_assignment *assignment, const uint32_t *at);

/* The classes of a mapping, into at[count]. */
void nuioa_classes_of(const struct nuioa_graph *graph, const uint32_t *slot_of, uint32_t *at);

/* slot_of follows at[count]: who is in the right class keeps his slot, the others get those left
 * over, the nearest first. 0 or -ENOMEM (slot_of unchanged). */
int nuioa_take_slots(const struct nuioa_problem *problem, const struct nuioa_graph *graph,
                     const uint32_t *at, uint32_t *slot_of);

/* The slots of each class that are not `taken` (NULL: all that no pinned task has), nearest first:
 * a list from head[class] through next[slot_count] to UINT32_MAX. */
void nuioa_list_free_slots(const struct nuioa_problem *problem, const struct nuioa_graph *graph,
                           const bool *taken, uint32_t *head, uint32_t *next);

void nuioa_class_assignment_swap(struct nuioa_class_assignment *assignment, uint32_t i, uint32_t j);
void nuioa_class_assignment_move(struct nuioa_class_assignment *assignment, uint32_t i,
                                 uint32_t slot_class);

/* What one change of place costs, in evaluations. */
uint64_t nuioa_change_effort(const struct nuioa_graph *graph);

static inline const double *nuioa_prices(const struct nuioa_class_assignment *assignment,
                                         uint32_t i)
{
    return assignment->price + (size_t)i * assignment->graph->class_count;
}

/* Below this a gain is rounding, and taking it could go in circles. */
static inline double nuioa_worth(const struct nuioa_class_assignment *assignment)
{
    return 1e-9 * fabs(assignment->cost);
}

double nuioa_bytes_between(const struct nuioa_graph *graph, uint32_t i, uint32_t j);

/* By how much J falls if i and j, of one kind and in different classes, change places. A gain that
 * is not above `floor` need not be exact. */
static inline double nuioa_swap_gain(const struct nuioa_class_assignment *assignment, uint32_t i,
                                     uint32_t j, double floor)
{
    const struct nuioa_graph *g = assignment->graph;
    uint32_t a = assignment->at[i], b = assignment->at[j];
    const double *pi = nuioa_prices(assignment, i), *pj = nuioa_prices(assignment, j);
    double gain = pi[a] - pi[b] + pj[b] - pj[a];
    /* The table has i join j's class with j still there, and the other way round. */
    double pair =
        2 * nuioa_distances(g, a)[b] - nuioa_distances(g, a)[a] - nuioa_distances(g, b)[b];
    if (pair >= 0 && gain <= floor)
        return gain;
    return gain - pair * nuioa_bytes_between(g, i, j);
}

#endif
