/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INSTANCE_H
#define INSTANCE_H

#include "mapping/mapping.h"

/* A made-up node and a made-up application, the same for the same seed on every machine. */
enum { PATTERNS = 7, MACHINES = 6 };

struct instance {
    struct nuioa_problem problem;
    const char *pattern, *machine;
    double off_node;                                   /* share of the bytes that leave the node */
    uint32_t nic_domain;                               /* where the NIC is */
    uint32_t tree_levels, tree_arity[3], tree_cost[3]; /* root first; 0 levels: a graph of links */
    double *weight, *nic_cost, *domain_cost;
    uint32_t *tie, *domain, *kind, *task_kind, *start;
    struct nuioa_pair *pairs;
};

/* Machines 0 to 2 have 2, 4, 8 NUMA nodes and no caches; 3 to 5 are larger ones, up to two packages
 * of four NUMA nodes with shared caches. `spare`: slots that nobody has. The caller frees. */
void instance_make(struct instance *in, uint64_t seed, uint32_t tasks, int pattern, int machine,
                   double off_node, uint32_t spare);
void instance_free(struct instance *in);

#endif
