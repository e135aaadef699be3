/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_CLASS_ASSIGNMENT_H
#define NUIOA_MAPPING_CLASS_ASSIGNMENT_H

#include <math.h>

#include "mapping/graph.h"

/* An assignment of tasks to classes of slots (struct nuioa_class) that the searches change step by
 * step. Tasks here are those of the graph, which may move, by their index there. The price table
 * says what each task would pay in each class if all other tasks stayed. With it the gain of a swap
 * takes a few additions; a move updates degree * class_count prices. */
struct nuioa_class_assignment {
    const struct nuioa_graph *graph;
    struct nuioa_arena arena;
    uint32_t *at;         /* [count]: class of each task */
    uint32_t *free_slots; /* [class_count]: slots of each class that no task has */
    double *price;        /* [count * class_count], in J: see nuioa_prices */
    double cost;          /* J of the tasks that may move; each change updates it */
};

/* Allocates the tables; the graph must outlive them. *assignment is overwritten. No task is
 * assigned yet. Returns 0 or -ENOMEM. The caller frees the tables with
 * nuioa_class_assignment_close, also after an error. */
int nuioa_class_assignment_open(struct nuioa_class_assignment *assignment,
                                const struct nuioa_graph *graph);

/* Frees the tables; the graph stays. An assignment that is all zeros has no tables. */
void nuioa_class_assignment_close(struct nuioa_class_assignment *assignment);

/* Assigns all tasks as assignment->at says, which the caller has filled: computes all prices and
 * the cost. No class may get more tasks than it has slots. */
void nuioa_assign_all(struct nuioa_class_assignment *assignment);

/* Assigns all tasks to the classes of their slots. slot_of[task_count] is the slot of each task of
 * the problem. */
void nuioa_assign_slots(struct nuioa_class_assignment *assignment, const uint32_t *slot_of);

/* Changes slot_of[task_count] so that each task i of problem->graph has a slot of class at[i]. A
 * task that is in this class already keeps its slot; the others get the free ones, those with the
 * lowest tie value first. Returns 0; or -ENOMEM, and slot_of is unchanged. */
int nuioa_take_slots(const struct nuioa_problem *problem, const uint32_t *at, uint32_t *slot_of);

/* Exchanges the classes of tasks i and j of the graph, which have one kind. Updates the prices and
 * the cost; this takes twice the work of a move. */
void nuioa_class_assignment_swap(struct nuioa_class_assignment *assignment, uint32_t i, uint32_t j);

/* Moves task i of the graph to another class of its kind. Updates the prices, the cost and
 * free_slots. The class may be full if a later move frees a slot: free_slots wraps around until
 * then. */
void nuioa_class_assignment_move(struct nuioa_class_assignment *assignment, uint32_t i,
                                 uint32_t slot_class);

/* Returns the work of one nuioa_class_assignment_move, in evaluations (struct nuioa_budget). */
uint64_t nuioa_change_effort(const struct nuioa_graph *graph);

/* Returns what task i of the graph would pay in each class, in J, if all other tasks stayed:
 * [class_count]. The assignment owns the prices, and the next change overwrites them. */
static inline const double *nuioa_prices(const struct nuioa_class_assignment *assignment,
                                         uint32_t i)
{
    return assignment->price + (size_t)i * assignment->graph->class_count;
}

/* Returns the least gain, in J, that is more than a rounding error. A search that accepted smaller
 * gains might never end. */
static inline double nuioa_least_gain(const struct nuioa_class_assignment *assignment)
{
    return 1e-9 * fabs(assignment->cost);
}

/* Returns the bytes that tasks i and j of the graph exchange, the sum of both directions. */
double nuioa_bytes_between(const struct nuioa_graph *graph, uint32_t i, uint32_t j);

/* Returns by how much J falls if tasks i and j of the graph, which have one kind and different
 * classes, are swapped; negative if J rises. A result that is not above `floor` need not be exact;
 * with -INFINITY it always is. */
static inline double nuioa_swap_gain(const struct nuioa_class_assignment *assignment, uint32_t i,
                                     uint32_t j, double floor)
{
    const struct nuioa_graph *g = assignment->graph;
    uint32_t a = assignment->at[i], b = assignment->at[j];
    const double *pi = nuioa_prices(assignment, i), *pj = nuioa_prices(assignment, j);
    double gain = pi[a] - pi[b] + pj[b] - pj[a];
    /* Each price assumes that the other task stays, so the traffic between the two is wrong in
     * both. */
    double pair =
        2 * nuioa_distances(g, a)[b] - nuioa_distances(g, a)[a] - nuioa_distances(g, b)[b];
    if (pair >= 0 && gain <= floor)
        return gain;
    return gain - pair * nuioa_bytes_between(g, i, j);
}

#endif
