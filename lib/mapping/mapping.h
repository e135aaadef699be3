/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MAPPING_MAPPING_H
#define NUIOA_MAPPING_MAPPING_H

#include "mapping/cost.h"
#include "mapping/problem.h"

/* The problem, its cost, and nuioa_map, which solves it. */

/* The result of nuioa_map. Costs are J, in its unit (mapping/problem.h). */
struct nuioa_mapping {
    const char *mapper;   /* for people: the mapper that won, a constant; "keep": `start` won */
    bool kept;            /* `start` won */
    double cost_start;    /* J of problem->start */
    double cost;          /* J of slot_of; never above cost_start */
    double bound;         /* no mapping has a lower J */
    bool balanced;        /* tasks moved so that the cards share the load */
    bool by_load;         /* ... and for nothing else */
    uint64_t evaluations; /* work that was done (struct nuioa_budget) */
};

/* Runs the mappers that fit the problem and keeps the mapping with the lowest J; `start` is one of
 * the candidates. Fills the caller's slot_of[task_count], the slot of each task, and *mapping;
 * nothing is to be freed. Returns 0; or -ENOMEM; or, in a problem with pairs, -EINVAL if a task's
 * kind has no slot, or -ETIME if nuioa_cpu_us() is past problem->cpu_until_us, which is checked
 * after each mapper. After an error slot_of equals `start`, and only cost_start of *mapping is
 * valid. */
int nuioa_map(const struct nuioa_problem *problem, uint32_t *slot_of,
              struct nuioa_mapping *mapping);

#endif
