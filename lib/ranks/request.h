/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_RANKS_REQUEST_H
#define NUIOA_RANKS_REQUEST_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "mapping/problem.h"
#include "option/option.h"
#include "ranks/reason.h"
#include "topology/node.h"

/* What a caller asks a plan for: the ranks of one node with the CPUs that Slurm gave them, what is
 * known of their traffic, and what the step may use. ranks/assignment.h explains local ranks and OS
 * indexes. */

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
    const struct nuioa_pair *pairs;     /* [pair_count], of local ranks; none: weights only */
    hwloc_const_bitmap_t allowed_cpus;  /* CPUs that the step may use; NULL: all of the node's */
    hwloc_const_bitmap_t allowed_numas; /* NUMA nodes whose memory the step may use; NULL: all */
    uint32_t cpus_per_task;             /* for cores=pack; 0: as many as the first task has */
    uint32_t cpus_typed;                /* --cpus-per-task as the user typed it; 0: not typed */
    uint32_t threads; /* of each rank, as the user said (OMP_NUM_THREADS); 0: not said */
    /* The value of nuioa_cpu_us() (this thread's processor time, in microseconds) past which there
     * is no plan (-ETIME); 0 means no limit. */
    uint64_t cpu_until_us;
    bool hinted;            /* hints gave the weights; else all weights are 0 */
    bool bound_by_user;     /* the user gave --cpu-bind */
    bool bound_by_outer;    /* ... for another step, from whose ranks srun has inherited it */
    bool nested;            /* srun runs in a rank of another step, which waits for it */
    bool memory_by_user;    /* the user gave --mem-bind */
    bool memory_by_rank;    /* ... with NUMA nodes for each local rank: map_mem, mask_mem, rank */
    bool memory_by_outer;   /* ... for another step, from whose ranks srun has inherited it */
    bool threads_by_user;   /* the user places threads: OMP_PLACES or the like */
    bool sees_gpu;          /* the step has a GPU */
    bool overlaps;          /* other steps may use the same CPUs: the user gave --overlap */
    bool unconfined;        /* the tasks' CPUs are not, or not surely, only those of the step */
    bool planned;           /* the plan will not be carried out: it is for another machine */
    enum nuioa_reason stay; /* why no rank may move, if only the caller knows; else _NONE */
};

/* Which of the GPUs that several ranks of a node see each of them takes, where the user or the site
 * says by which rule (option gpus=local-rank). */

/* Returns true if the option is such a rule. */
static inline bool nuioa_gpu_rank_is_rule(enum nuioa_gpu_mode mode)
{
    return mode == NUIOA_GPU_LOCAL_RANK || mode == NUIOA_GPU_LOCAL_RANK_BLOCK;
}

/* Returns the place of the GPU of local rank `local`, one of `task_count` on its node, among the
 * `count` GPUs that it sees, in the order of its program's numbers: `local` modulo `count`, or with
 * local-rank:block local * count / task_count. `count` and `task_count` are not 0, and `mode` is a
 * rule. */
static inline uint32_t nuioa_gpu_rank_place(enum nuioa_gpu_mode mode, uint32_t count,
                                            uint32_t local, uint32_t task_count)
{
    if (mode == NUIOA_GPU_LOCAL_RANK_BLOCK)
        return (uint32_t)((uint64_t)(local % task_count) * count / task_count);
    return local % count;
}

/* Returns 0 if a plan can be made for the request: it has tasks, each with CPUs, and names no GPU
 * and no local rank that is not there; or -EINVAL with *err. */
int nuioa_request_check(const struct nuioa_request *request, struct nuioa_error *err);

/* Computes Slurm's default binding, for `nuioa plan` without --binding: block distribution of
 * `task_count` tasks over the whole cores of `allowed` (OS indexes), with `cpus_per_task` CPUs
 * (PUs) each, rounded up to whole cores; or, if these are too few, over their CPUs one by one, as
 * Slurm binds one task to each hardware thread. Sets the bitmaps cpus[task_count], which the caller
 * allocated and frees. Returns 0; or -ENOSPC with *err if they do not fit, and the bitmaps are then
 * undefined. */
int nuioa_default_binding(const struct nuioa_node *node, hwloc_const_bitmap_t allowed,
                          uint32_t task_count, uint32_t cpus_per_task, hwloc_bitmap_t *cpus,
                          struct nuioa_error *err);

#endif
