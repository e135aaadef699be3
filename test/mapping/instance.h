/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "mapping/mapping.h"

/* An instance is a synthetic node with a synthetic application. The same seed gives the same
 * instance on every machine. */
enum { PATTERNS = 7, MACHINES = 6 };

struct instance {
    struct nuioa_problem problem;
    const char *pattern, *machine;
    double off_node;     /* share of the bytes that goes to other nodes */
    uint32_t nic_domain; /* domain of the NIC */
    uint32_t tree_levels, tree_arity[3],
        tree_cost[3]; /* root first; 0 levels: the machine is not a tree */
    double *weight, *nic_cost, *domain_cost;
    uint32_t *tie, *domain, *kind, *task_kind, *start;
    struct nuioa_pair *pairs;
};

/* Machines 0 to 2 have 2, 4 and 8 NUMA nodes without shared caches; 3 to 5 are larger, up to two
 * packages of four NUMA nodes with shared caches. `spare` slots have no task. off_node is the share
 * of the bytes that goes to other nodes, 0 to 1. The caller frees with instance_free. */
void instance_make(struct instance *in, uint64_t seed, uint32_t tasks, int pattern, int machine,
                   double off_node, uint32_t spare);
void instance_free(struct instance *in);

#endif
