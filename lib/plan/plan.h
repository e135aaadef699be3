/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLAN_H
#define NUIOA_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "ranks/assignment.h"
#include "ranks/request.h"
#include "util/arena.h"
#include "util/error.h"

/* The plan of one node: where each task runs, its memory, its NIC, and which rank leads.
 * nuioa_plan_make makes it; later only a failed binding changes it (spank/stepd/placement.h).
 * ranks/assignment.h explains local ranks, OS indexes and levels. */

/* The cost J (mapping/problem.h) of the ranks on certain CPUs, and its three terms. */
struct nuioa_plan_cost {
    double j; /* the sum of the terms */
    double nic, neighbours;
    struct nuioa_load_term load;
};

/* A plan. It owns all that it points to, and nuioa_plan_free frees that; a plan that is all zeros
 * is empty. */
struct nuioa_plan {
    struct nuioa_arena arena; /* of all that it owns */
    bool moved;               /* some rank does not run where Slurm put it */
    bool planned;             /* as in the request */
    char reason[216];         /* one line: why ranks moved or did not move */
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
    struct nuioa_usable usable;
    uint32_t rail_leader_count;
    uint32_t *rail_leaders; /* [rail_leader_count]: local ranks that lead the NICs in use */
    struct nuioa_plan_cost before, after; /* with the CPUs that Slurm gave; with the planned ones */
    /* For people: what found the CPUs, a constant text: a mapper (mapping/mapping.h), "block",
     * "nearest" or "follow"; "keep" if nobody moves. */
    const char *mapper;
    uint64_t evaluations; /* the work of the mappers (struct nuioa_budget) */
    bool bound_known;     /* `bound` is valid */
    double bound;         /* no exchange of Slurm's masks has a lower J */
    /* Ranks that moved (force) and are, or may be, farther from their GPUs. J does not count GPUs,
     * so when this is not 0, J is no measure of the gain. */
    uint32_t gpus_left;
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

/* Takes a plan back that the kernel has refused: all ranks have the CPUs that Slurm gave, and all
 * that follows from them is as with the mode export, but the reason, which is request->stay, if
 * there is one. Besides that `request` is the one that the plan was made from. Returns 0; or
 * -ENOMEM, and the plan can still be read and freed, but what follows from the CPUs may be
 * missing. */
int nuioa_plan_undo(const struct nuioa_request *request, struct nuioa_plan *plan);

/* Frees what the plan owns, but not `plan` itself, and makes it empty. It may be empty already. */
static inline void nuioa_plan_free(struct nuioa_plan *plan)
{
    nuioa_arena_free(&plan->arena);
    *plan = (struct nuioa_plan){ 0 };
}

#endif
