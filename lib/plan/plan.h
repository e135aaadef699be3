/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_H
#define NUIOA_PLAN_PLAN_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "mapping/mapping.h"
#include "plan/assignment.h"
#include "plan/option.h"
#include "topology/node.h"

/* The plan of one node: from the node, the weights of the tasks and the CPUs that Slurm gave them,
 * it decides where each task runs, its memory, its NIC, and which rank leads. These functions only
 * read their input and write a plan; they bind nothing. */

struct nuioa_task {
    uint32_t rank;             /* global rank */
    double weight;             /* traffic that leaves the node, in any unit; 0 without hints */
    hwloc_const_bitmap_t cpus; /* OS indexes of the CPUs that Slurm gave */
    int32_t gpu;               /* index into node->gpus; -1: none or unknown */
};

struct nuioa_request {
    const struct nuioa_node *node;
    const struct nuioa_options *options;
    uint32_t task_count;
    const struct nuioa_task *tasks; /* [task_count], by local rank */
    uint32_t pair_count;
    const struct nuioa_pair *pairs;      /* [pair_count], of local ranks; 0: use weights only */
    hwloc_const_bitmap_t allowed_cpus;   /* CPUs that the step may use; NULL: all of the node's */
    hwloc_const_bitmap_t allowed_numas;  /* NUMA nodes whose memory the step may use; NULL: all */
    hwloc_const_bitmap_t interrupt_cpus; /* for policy=cpu: interrupt.h; NULL or empty: unknown */
    uint32_t cpus_per_task;              /* for cores=pack; 0: as many as the first task has */
    /* Limit for this thread's processor time (nuioa_cpu_us) in microseconds. Past it there is no
     * plan (-ETIME). 0: no limit. */
    uint64_t cpu_until_us;
    bool hinted;         /* hints gave the weights; else all weights are 0 */
    bool bound_by_user;  /* the user gave --cpu-bind */
    bool memory_by_user; /* the user gave --mem-bind */
    bool sees_gpu;       /* the step has a GPU */
    bool planned;        /* the plan will not be carried out: it is for another machine */
    const char *stay;    /* a reason, known to the caller only, why no rank may move; NULL: none */
};

struct nuioa_plan {
    bool moved;       /* some rank does not run where Slurm put it */
    bool planned;     /* as in the request */
    char reason[160]; /* one line: why ranks moved or did not move */
    enum nuioa_policy policy;
    bool hinted; /* as in the request */
    uint32_t task_count;
    struct nuioa_assignment *assignments; /* [task_count], by local rank */
    uint32_t order_count;                 /* 0 if leader=off, else task_count */
    uint32_t *order; /* [order_count]: local ranks, the best leader first; order[0] leads */
    uint32_t near;   /* the first `near` ranks of `order` share the best level */
    uint32_t rail_count;
    uint32_t *rails;                  /* [rail_count]: the local rank that leads each NIC in use */
    struct nuioa_mapping mapping;     /* mapper, J before and after, bound, evaluations */
    struct nuioa_split before, after; /* the terms of J, summed over the ranks */
    bool bound_known; /* mapping.bound is valid: no exchange of Slurm's masks has a lower J */
    /* Ranks that moved although they have a GPU (force), and are or may be farther from it. J does
     * not count GPUs, so when this is not 0, J is no measure of the gain. */
    uint32_t gpus_left;
    uint32_t time_us; /* duration of nuioa_plan_make in microseconds */
    struct nuioa_warnings warnings;
};

/* The words before the bound: "no exchange of Slurm's masks can be below 148.75". */
#define NUIOA_BOUND "no exchange of Slurm's masks can be below"

/* Makes the plan. 0, and the caller frees *plan with nuioa_plan_free; or negative with *err, and
 * *plan is empty: -EINVAL for a wrong request, -ETIME past cpu_until_us, -ENOMEM. If no rank moves,
 * the plan is still complete (NICs, memory, leaders), with moved = false and the reason. */
int nuioa_plan_make(const struct nuioa_request *request, struct nuioa_plan *plan,
                    struct nuioa_error *err);
void nuioa_plan_free(struct nuioa_plan *plan);

/* Returns the local rank that every plan will choose as leader, whatever the CPUs of the tasks are:
 * there is only one task, or all CPUs are equally near every NIC, or leader=rank0. `weighted`: the
 * weights of tasks may differ. UINT32_MAX: only a plan can tell, or leader=off. */
uint32_t nuioa_plan_sure_leader(const struct nuioa_node *node, const struct nuioa_options *options,
                                uint32_t task_count, bool weighted);

/* Replaces the planned CPUs of a task by those that it really has after binding, and recomputes
 * what follows from them: NUMA nodes, NIC, level, memory, leaders and costs. 0 or negative
 * (-EINVAL: no such local rank; -ENOMEM). */
int nuioa_plan_achieved(const struct nuioa_request *request, struct nuioa_plan *plan,
                        uint32_t local, hwloc_const_bitmap_t cpus);

/* Slurm's default binding, for `nuioa plan` without --binding: block distribution of `task_count`
 * tasks over the whole cores of `allowed`, with `cpus_per_task` CPUs each, rounded up to whole
 * cores. Writes cpus[task_count], which the caller allocated. 0, or -ENOSPC with *err if they do
 * not fit. */
int nuioa_block_binding(const struct nuioa_node *node, hwloc_const_bitmap_t allowed,
                        uint32_t task_count, uint32_t cpus_per_task, hwloc_bitmap_t *cpus,
                        struct nuioa_error *err);

#endif
