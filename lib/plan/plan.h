/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_H
#define NUIOA_PLAN_PLAN_H

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "mapping/mapping.h"
#include "plan/option.h"
#include "topology/node.h"

/* The one decision: what this node is, what its tasks want and where Slurm put them -> where each
 * task runs, its memory, its NIC, who leads. Pure: reads its input, writes a plan, binds
 * nothing. */

struct nuioa_task {
    uint32_t rank;             /* global */
    double weight;             /* traffic off the node, by the policy; any unit; 0 without hints */
    hwloc_const_bitmap_t cpus; /* OS indexes: where Slurm put it */
    int32_t gpu;               /* index into node->gpus, -1: none or not known */
};

struct nuioa_request {
    const struct nuioa_node *node;
    const struct nuioa_options *options;
    uint32_t task_count;
    const struct nuioa_task *tasks; /* by local rank */
    uint32_t pair_count;
    const struct nuioa_pair *pairs;      /* by local rank; none: weights only */
    hwloc_const_bitmap_t allowed_cpus;   /* what the step may use; NULL: what the node allows */
    hwloc_const_bitmap_t allowed_numas;  /* memory likewise */
    hwloc_const_bitmap_t interrupt_cpus; /* for policy=cpu: interrupt.h; NULL or empty: not known */
    uint32_t cpus_per_task;              /* for cores=pack; 0: as many as each task has */
    /* no plan (-ETIME) if it takes this thread's clock past it; 0: no limit */
    uint64_t cpu_until_us;
    bool hinted;         /* the weights say something */
    bool bound_by_user;  /* an explicit --cpu-bind */
    bool memory_by_user; /* an explicit --mem-bind */
    bool sees_gpu;       /* the step has a GPU */
    bool planned;        /* will not be carried out (another machine's topology) */
    /* why no rank may move for a reason that only the caller knows; or NULL */
    const char *stay;
};

enum nuioa_memory { NUIOA_MEMORY_DEFAULT, NUIOA_MEMORY_PREFERRED, NUIOA_MEMORY_INTERLEAVE };

#define NUIOA_NO_LEVEL UINT32_MAX

/* Its two terms: reaching the NIC, reaching the neighbours. */
struct nuioa_split {
    double nic, neighbours;
};

#define NUIOA_PARTNERS_MAX 3

/* Why a rank is where it is. A pair's cost counts half for each end, so that ranks add up to J. */
struct nuioa_rank_costs {
    /* of the nearest NIC from where Slurm put it; NUIOA_NO_LEVEL if unknown */
    uint32_t level_before;
    uint32_t heavier; /* how many ranks of the node have more weight */
    struct nuioa_split before, after;
    double local;  /* exchanged with ranks of the node, in the unit of the pairs */
    double beside; /* of that, with ranks that run on its own NUMA nodes alone */
    uint32_t partner_count;
    uint32_t partners[NUIOA_PARTNERS_MAX]; /* local ranks it exchanges most with, most first */
    int32_t gave_way; /* the local rank that has its former CPUs, or some of them; -1: none */
};

struct nuioa_assignment {
    uint32_t rank;
    double weight;
    bool moved;          /* its CPUs are not those that Slurm gave it */
    hwloc_bitmap_t cpus; /* OS indexes */
    hwloc_bitmap_t was;  /* OS indexes: where Slurm put it */
    struct nuioa_rank_costs costs;
    hwloc_bitmap_t numas; /* OS indexes of the NUMA nodes of `cpus` */
    int32_t nic;          /* index into node->nics, -1: none */
    uint32_t level;       /* from that NIC; NUIOA_NO_LEVEL if unknown */
    enum nuioa_memory memory;
    hwloc_bitmap_t memory_numas; /* OS indexes; empty for default */
    /* OMP places: cores of `cpus`, nearest the NIC first; 0: none to be exported */
    uint32_t place_count;
    hwloc_bitmap_t *places;
};

struct nuioa_plan {
    bool moved; /* some rank does not run where Slurm put it */
    bool planned;
    char reason[160]; /* why it moved, or why not: one line */
    enum nuioa_policy policy;
    bool hinted; /* the weights say something */
    uint32_t task_count;
    struct nuioa_assignment *assignments; /* by local rank */
    uint32_t order_count;                 /* 0 when leader=off; else task_count */
    uint32_t *order;                      /* local ranks, best leader first; order[0] leads */
    uint32_t near;                        /* how many of `order` share the best level */
    uint32_t rail_count;
    uint32_t *rails;                  /* local ranks: the leader of each NIC in use */
    struct nuioa_mapping mapping;     /* mapper, J before and after, bound, evaluations */
    struct nuioa_split before, after; /* the sums of all accounts: what J is made of */
    bool bound_known;   /* mapping.bound: of exchanges of Slurm's masks, not of all placements */
    uint32_t gpus_left; /* ranks that are, or may be, farther from their GPU than where Slurm put
                            them (force). J counts no GPU: then it says nothing about a gain */
    uint32_t time_us;
    struct nuioa_warnings warnings;
};

/* How a bound is told: "no exchange of Slurm's masks can be below 148.75". */
#define NUIOA_BOUND "no exchange of Slurm's masks can be below"

/* Makes the plan. 0 and *plan (caller: nuioa_plan_free); or negative with *err, *plan empty. When
 * nothing can be improved the plan still is complete (NICs, leader), with moved = false and the
 * reason. */
int nuioa_plan_make(const struct nuioa_request *request, struct nuioa_plan *plan,
                    struct nuioa_error *err);
void nuioa_plan_free(struct nuioa_plan *plan);

/* The local rank that is going to lead whatever the masks and the plan will be, because there is
 * one task only, because all ranks will be as near to every NIC, or because rank 0 was asked for.
 * UINT32_MAX: it takes a plan to tell, or nobody is to lead. `weighted`: hints may tell tasks
 * apart. */
uint32_t nuioa_plan_sure_leader(const struct nuioa_node *node, const struct nuioa_options *options,
                                uint32_t task_count, bool weighted);

/* Replaces a task's planned CPUs by those that were achieved (bind read back), and what follows
 * from them: NUMA nodes, NIC, level, leaders. */
int nuioa_plan_achieved(const struct nuioa_request *request, struct nuioa_plan *plan,
                        uint32_t local, hwloc_const_bitmap_t cpus);

/* Slurm's default where nobody knows better (nuioa plan without --binding): block distribution of
 * `task_count` tasks over the whole cores of `allowed`, cpus_per_task CPUs each (rounded up to
 * whole cores). Fills cpus[task_count], which the caller allocated. -ENOSPC if they do not fit. */
int nuioa_block_binding(const struct nuioa_node *node, hwloc_const_bitmap_t allowed,
                        uint32_t task_count, uint32_t cpus_per_task, hwloc_bitmap_t *cpus,
                        struct nuioa_error *err);

/* "preferred:1", "interleave:0-1", "default". Returns text. */
const char *nuioa_memory_text(const struct nuioa_assignment *assignment, char *text, size_t size);

/* "{2},{3}": the OMP places. Returns text, or NULL if there are none or it does not fit. */
const char *nuioa_places_text(const struct nuioa_assignment *assignment, char *text, size_t size);

#endif
