/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_H
#define NUIOA_PLAN_PLAN_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "mapping/mapping.h"
#include "plan/assignment.h"
#include "option/option.h"
#include "plan/reason.h"
#include "topology/node.h"

/* The plan of one node: from the node, the weights of the tasks and the CPUs that Slurm gave them,
 * it decides where each task runs, its memory, its NIC, and which rank leads. These functions only
 * read their input and write a plan; they bind nothing. plan/assignment.h explains local ranks, OS
 * indexes and levels. */

struct nuioa_task {
    uint32_t rank;             /* global rank */
    double weight;             /* >= 0: traffic with other nodes, in any unit; 0 without hints */
    hwloc_const_bitmap_t cpus; /* OS indexes of the CPUs that Slurm gave */
    const uint32_t *gpus;      /* [gpu_count]: indexes into node->gpus, in ascending order */
    uint32_t gpu_count;
    bool gpus_known; /* `gpus` are all GPUs that the task has; else it may have any, or `seen` */
    const uint32_t *seen; /* [seen_count]: of unknown GPUs, those that it can only have some of */
    uint32_t seen_count;  /* 0: it may have any, or they are known */
    bool gpus_shared;     /* it sees all of `seen`, and other tasks of the node see some of them */
};

/* The input of a plan. It points to things of the caller, which must outlive the calls that take
 * the request; the plan itself keeps none of these pointers. */
struct nuioa_request {
    const struct nuioa_node *node;
    const struct nuioa_options *options;
    uint32_t task_count;
    const struct nuioa_task *tasks; /* [task_count], by local rank */
    uint32_t pair_count;
    const struct nuioa_pair *pairs;      /* [pair_count], of local ranks; none: weights only */
    hwloc_const_bitmap_t allowed_cpus;   /* CPUs that the step may use; NULL: all of the node's */
    hwloc_const_bitmap_t allowed_numas;  /* NUMA nodes whose memory the step may use; NULL: all */
    hwloc_const_bitmap_t interrupt_cpus; /* for policy=cpu: interrupt.h; NULL or empty: unknown */
    /* [node->nic_count]: how many ranks of average weight other steps on the node have on each NIC;
     * NULL: none. Equally near NICs are chosen by it (plan/rail_assign.h). */
    const double *nic_ranks;
    uint32_t cpus_per_task; /* for cores=pack; 0: as many as the first task has */
    uint32_t cpus_typed;    /* --cpus-per-task as the user typed it; 0: not typed */
    uint32_t threads;       /* of each rank, as the user said (OMP_NUM_THREADS); 0: not said */
    /* The value of nuioa_cpu_us() (this thread's processor time, in microseconds) past which there
     * is no plan (-ETIME); 0 means no limit. */
    uint64_t cpu_until_us;
    bool hinted;          /* hints gave the weights; else all weights are 0 */
    bool bound_by_user;   /* the user gave --cpu-bind */
    bool memory_by_user;  /* the user gave --mem-bind */
    bool threads_by_user; /* the user places threads: OMP_PLACES or the like */
    bool sees_gpu;        /* the step has a GPU */
    bool overlaps;        /* other steps may use the same CPUs: the user gave --overlap */
    bool unconfined;      /* the tasks' CPUs are not, or not surely, only those of the step */
    bool planned;         /* the plan will not be carried out: it is for another machine */
    const char *stay;     /* why no rank may move, if only the caller knows; NULL: ranks may */
};

/* The term of J for the load of the NICs (plan/rail_load.h). */
struct nuioa_load_term {
    double
        ratio;   /* the load of the most loaded card against an even share, >= 1; 0: no such term */
    double cost; /* in the unit of J */
};

/* A plan. It owns its arrays, and nuioa_plan_free frees them; a plan that is all zeros is empty. */
struct nuioa_plan {
    bool moved;       /* some rank does not run where Slurm put it */
    bool planned;     /* as in the request */
    char reason[216]; /* one line: why ranks moved or did not move */
    enum nuioa_reason why;
    uint32_t advice; /* what the user may type: a bit for each enum nuioa_advice, the first is 1 */
    enum nuioa_policy policy;
    bool hinted;        /* as in the request */
    bool binds_threads; /* variables bind threads of these ranks: threads=on, and -c */
    uint32_t task_count;
    struct nuioa_assignment *assignments; /* [task_count], by local rank */
    uint32_t order_count;                 /* 0 if leader=off, else task_count */
    uint32_t *order; /* [order_count]: local ranks, the best leader first; order[0] leads */
    uint32_t near;   /* the first `near` ranks of `order` share the best level */
    uint32_t nic_count;
    uint32_t *nics; /* [nic_count]: indexes into node->nics: those that ranks may use, PCI order */
    bool connected; /* each of them surely reaches the others' network, or the user says so */
    uint32_t rail_count;
    uint32_t *rails;                  /* [rail_count]: the local rank that leads each NIC in use */
    struct nuioa_mapping mapping;     /* mapper, J before and after, bound, evaluations */
    struct nuioa_split before, after; /* two terms of J, summed over the ranks */
    struct nuioa_load_term load_before, load_after; /* its third term */
    bool bound_known; /* mapping.bound is valid: no exchange of Slurm's masks has a lower J */
    /* Ranks that moved (force) and are, or may be, farther from their GPUs. J does not count GPUs,
     * so when this is not 0, J is no measure of the gain. */
    uint32_t gpus_left;
    /* Ranks that have other NICs than if no other step on the node used any (rail_assign.h). */
    uint32_t nics_shifted;
    uint32_t time_us; /* duration of nuioa_plan_make in microseconds */
    struct nuioa_warnings warnings;
};

/* Reports write these words before the bound: "no exchange of Slurm's masks can be below
 * 148.75". */
#define NUIOA_BOUND "no exchange of Slurm's masks can be below"

/* Makes the plan. *plan is overwritten, so it must own nothing before. Returns 0, and the caller
 * frees *plan with nuioa_plan_free; or a negative errno with *err: -EINVAL for a wrong request or
 * `nic` option, -ETIME past cpu_until_us, -ENOMEM. *plan is then empty but for time_us. If no rank
 * moves, the plan is still complete (NICs, memory, leaders), with moved = false and the reason. */
int nuioa_plan_make(const struct nuioa_request *request, struct nuioa_plan *plan,
                    struct nuioa_error *err);

/* Frees what the plan owns, but not `plan` itself, and makes it empty. It may be empty already. */
void nuioa_plan_free(struct nuioa_plan *plan);

/* Returns the local rank that every plan will choose as leader, whatever the CPUs of the tasks are.
 * That is 0 if there is only one task, with leader=rank0, or if all CPUs are equally near every NIC
 * and the weights are equal. `weighted` says that the weights of tasks may differ. Returns
 * UINT32_MAX if only a plan can tell, with leader=off, or if there is no task. */
uint32_t nuioa_plan_sure_leader(const struct nuioa_node *node, const struct nuioa_options *options,
                                uint32_t task_count, bool weighted);

/* Replaces the planned CPUs of the task with local rank `local` by `cpus` (OS indexes, copied),
 * which it really has after binding, and computes again what follows from them: NUMA nodes, NIC,
 * level, memory, leaders and costs. `request` is the one that the plan was made from. Returns 0;
 * -EINVAL if there is no such local rank, and nothing is changed; or -ENOMEM, and the plan can
 * still be read and freed, but what follows from the CPUs may be missing. */
int nuioa_plan_achieved(const struct nuioa_request *request, struct nuioa_plan *plan,
                        uint32_t local, hwloc_const_bitmap_t cpus);

/* Computes Slurm's default binding, for `nuioa plan` without --binding: block distribution of
 * `task_count` tasks over the whole cores of `allowed` (OS indexes), with `cpus_per_task` CPUs
 * (PUs) each, rounded up to whole cores. Sets the bitmaps cpus[task_count], which the caller
 * allocated and frees. Returns 0; or -ENOSPC with *err if they do not fit, and the bitmaps are then
 * undefined. */
int nuioa_block_binding(const struct nuioa_node *node, hwloc_const_bitmap_t allowed,
                        uint32_t task_count, uint32_t cpus_per_task, hwloc_bitmap_t *cpus,
                        struct nuioa_error *err);

#endif
