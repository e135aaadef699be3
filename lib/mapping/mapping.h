/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_MAPPING_H
#define NUIOA_MAPPING_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

/* Who sits where: the assignment of tasks to slots of one node, as numbers only. It knows no
 * topology, no Slurm, no NIC: nuioa_plan_make turns those into the costs below, and a mapping back
 * into CPUs.
 *
 * Cost, minimised:
 *
 *     J = sum_i weight[i] * nic_cost[slot(i)]
 *         + sum_{i<j} bytes(i,j) * slot_cost(slot(i), slot(j))
 *
 * The first term is the price of reaching the NIC, the second of reaching one's neighbours. */

/* Traffic between two tasks of the node, both ways together. first < second. */
struct nuioa_pair {
    uint32_t first, second;
    double bytes;
};

struct nuioa_problem {
    uint32_t task_count;
    uint32_t slot_count;    /* >= task_count */
    const double *weight;   /* [task_count], >= 0 */
    const double *nic_cost; /* [slot_count], >= 1; what one unit of weight costs there */
    const uint32_t *tie;    /* [slot_count]: among equal nic_cost, lower first (nearer CPUs) */
    const uint32_t *domain; /* [slot_count]: slots of one are interchangeable for slot_cost */
    uint32_t domain_count;
    const double *domain_cost; /* [domain_count * domain_count], symmetric, >= 0; NULL: no pairs */
    const uint32_t *kind;      /* [slot_count]: a task may only sit in a slot of its own kind, */
    const uint32_t *task_kind; /* [task_count]: slots of one kind are equally large */
    const bool *pinned;        /* [task_count]: stays where `start` has it; NULL: none */
    const uint32_t *start;     /* [task_count]: Slurm's own mapping, always a candidate */
    uint32_t pair_count;
    const struct nuioa_pair *pairs;  /* each pair once; none: weights only */
    const struct nuioa_graph *graph; /* NULL; nuioa_map makes it once for all mappers */
    uint64_t effort;                 /* evaluations at the most; 0: by the size of the problem */
    uint64_t
        cpu_until_us; /* for nuioa_map alone: give up when nuioa_cpu_us() is past it; 0: never */
};

/* Processor time of this thread. */
uint64_t nuioa_cpu_us(void);

/* Work is counted in evaluations of a change of J, never in time, so that equal input gives an
 * equal plan. */
struct nuioa_budget {
    uint64_t evaluations; /* used so far */
    uint64_t limit;
};

/* One way to map: fills slot_of[task_count], each slot used at most once, kinds and pins respected.
 * 0, or negative if it does not apply (another mapper's result is used then). */
struct nuioa_mapper {
    const char *name; /* as in `nuioa plan --json` */
    int (*map)(const struct nuioa_problem *problem, uint32_t *slot_of, struct nuioa_budget *budget);
};

/* Ranks by descending weight onto slots by ascending distance from the NIC: optimal when there are
 * weights only (rearrangement inequality). "Palliative placement" of Moreaud, master thesis 2007,
 * 3.3.1. Tasks of equal weight keep their order; a task moves only if its new slot is nearer or
 * farther than before. */
extern const struct nuioa_mapper nuioa_hopsort;

/* The two that follow are for problems with pairs (-EINVAL without, or where they do not apply). */

/* TreeMatch (Jeannot & Mercier, Euro-Par 2010): groups by affinity along the machine's tree. */
extern const struct nuioa_mapper nuioa_affinity_tree;

/* The machine and the tasks halved together, the NIC as a linear term, large graphs coarsened
 * first; improved by swaps. As many guesses as the budget holds: it must end. */
extern const struct nuioa_mapper nuioa_bisect;

/* Swaps whole contents of domains, then two tasks or a task and an empty slot, wherever that lowers
 * J, until no swap does or the budget is used up. */
void nuioa_refine(const struct nuioa_problem *problem, uint32_t *slot_of,
                  struct nuioa_budget *budget);

double nuioa_cost(const struct nuioa_problem *problem, const uint32_t *slot_of);

/* No mapping can cost less: every task in the nearest slot it could have if nobody else wanted a
 * lesser one (exact for the first term), every pair at the least price of any two slots. */
double nuioa_cost_bound(const struct nuioa_problem *problem);

struct nuioa_mapping {
    const char *mapper; /* name; "keep" if Slurm's own placement won */
    double cost_start;  /* J of problem->start */
    double cost;        /* J of slot_of; never above cost_start */
    double bound;
    uint64_t evaluations;
};

/* Runs the mappers that fit the problem, keeps the best J, with Slurm's own among the candidates:
 * slot_of is written, *mapping says how it came about. 0; or -ENOMEM, or -ETIME when it is past
 * cpu_until_us, which is looked at between mappers (slot_of = start then). */
int nuioa_map(const struct nuioa_problem *problem, uint32_t *slot_of,
              struct nuioa_mapping *mapping);

#endif
