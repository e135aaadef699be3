/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_PROBLEM_H
#define NUIOA_MAPPING_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

/* The problem that a mapper solves: assign the tasks of one node to its slots. Tasks and slots are
 * indexes from 0; a slot is a set of CPUs that one task can have, and a mapping is an array
 * slot_of[task_count] that gives each task its own slot. The problem consists of numbers only.
 * nuioa_plan_make derives them from the topology, the NICs and the hints, and turns the result into
 * CPUs.
 *
 * The cost J, which has the unit of the traffic because prices are pure numbers, is minimised:
 *
 *     J = sum_i weight[i] * nic_cost[slot(i)]
 *         + sum_{i<j} bytes(i,j) * domain_cost[domain(slot(i))][domain(slot(j))]
 *         + load->price * (max_c load(c) - W)
 *
 * The first term is the price of reaching the NIC, the second the price of reaching other tasks of
 * the node, and the third, which only problems with several cards have, the price of an uneven
 * load (struct nuioa_load). With pairs this is a quadratic assignment problem (T. Koopmans, M.
 * Beckmann, "Assignment Problems and the Location of Economic Activities", 1957). */

/* Traffic between two tasks of the node, the sum of both directions. first < second. */
struct nuioa_pair {
    uint32_t first, second;
    double bytes; /* >= 0; messages if policy=latency. Any unit is right if weights have it too */
};

/* The load of the cards, where a card is a NIC with all of its ports. A card that carries W_c of
 * all weight W, and has the part q_c of the sum of all rates, has the load W_c / q_c. That is W for
 * all cards if the weight is spread by rate; so the third term of J is then 0.
 *
 * A task uses one of the cards that are near its slot. Tasks whose slots have the fewest such cards
 * choose first, then heavier ones, and each takes the card whose load is then least. The arrays are
 * the caller's. */
struct nuioa_load {
    double price;          /* of one unit of weight above an even share, >= 0: option load_cost */
    uint32_t card_count;   /* 2 to NUIOA_CARDS_MAX */
    const double *part;    /* [card_count]: q_c, > 0; their sum is 1 */
    const uint64_t *near;  /* [slot_count]: bit c is set if card c is near; at least one is */
    const double *weight;  /* [task_count]: the weight that counts for the cards; 0 for a task whose
                              card does not depend on its slot */
    const uint32_t *order; /* [task_count]: all tasks, in the order of descending weight */
    const double *fixed;   /* [card_count]: weight that each card has whatever the mapping is */
};

#define NUIOA_CARDS_MAX 64

/* All arrays belong to the caller, and nothing changes them. */
struct nuioa_problem {
    uint32_t task_count;
    uint32_t slot_count;    /* >= task_count */
    const double *weight;   /* [task_count], >= 0: the task's traffic with other nodes */
    const double *nic_cost; /* [slot_count], >= 1: the price of one unit of weight in this slot */
    const uint32_t *tie;    /* [slot_count]: among slots of equal nic_cost a lower value is better,
                               because its CPUs are nearer the NIC */
    const uint32_t *domain; /* [slot_count]: slots of one domain have the same domain_cost */
    uint32_t domain_count;
    const double *domain_cost; /* [domain_count * domain_count]: the price of one byte between two
                                  domains; symmetric, >= 0; NULL if there are no pairs */
    const uint32_t *kind;      /* [slot_count]: slots of one kind have the same size */
    const uint32_t *task_kind; /* [task_count]: the task needs a slot of this kind */
    const bool *pinned;        /* [task_count]: the task stays in its start slot; NULL: none is */
    const uint32_t *start;     /* [task_count]: the slot that Slurm chose */
    uint32_t pair_count;       /* 0: weights only */
    const struct nuioa_pair *pairs;  /* each pair is listed once */
    const struct nuioa_load *load;   /* NULL: J has no third term. Of the mappers load_first and
                                        load_search see it; for all others nuioa_map sets NULL */
    const struct nuioa_graph *graph; /* nuioa_map makes one for all mappers, whatever the caller has
                                        set; only hopsort and load_* do without */
    uint64_t effort;       /* evaluations at the most; 0: a limit that follows from the size */
    uint64_t cpu_until_us; /* only for nuioa_map, which gives up when nuioa_cpu_us() (util/clock.h)
                              is past it; 0: no limit */
};

/* Work is counted in evaluations of a change of J and never in time, so that equal input gives an
 * equal plan. */
struct nuioa_budget {
    uint64_t evaluations; /* used so far */
    uint64_t limit;       /* work stops when `evaluations` reaches it */
};

/* Adds `evaluations` to the work that was done. Returns true while some budget is left. */
static inline bool nuioa_spend(struct nuioa_budget *budget, uint64_t evaluations)
{
    budget->evaluations += evaluations;
    return budget->evaluations < budget->limit;
}

/* A mapper is one algorithm. map() fills the caller's slot_of[task_count] with a mapping: no slot
 * is used twice, kinds and pinned tasks are respected. It adds its work to *budget and stops soon
 * after the budget is used up, unless it takes little, as those that sort. It returns 0, or
 * -ENOMEM, or -EINVAL if the algorithm does not apply to the problem; slot_of is then undefined,
 * and another mapper's result is used. It keeps no memory. */
struct nuioa_mapper {
    const char *name; /* as `nuioa plan --json` prints it */
    int (*map)(const struct nuioa_problem *problem, uint32_t *slot_of, struct nuioa_budget *budget);
};

#endif
