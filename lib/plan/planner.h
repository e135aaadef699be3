/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLANNER_H
#define NUIOA_PLAN_PLANNER_H

#include "plan/plan.h"
#include "plan/rail.h"
#include "plan/request.h"
#include "plan/slot.h"

/* The state while a plan is made: the request, the plan, and what the steps of planning share.
 * Private to the library. */
struct planner {
    const struct nuioa_request *request; /* the caller's */
    struct nuioa_plan *plan;             /* the caller's */
    struct nuioa_rails rails;
    hwloc_bitmap_t allowed_cpus;  /* OS indexes of the CPUs that the step may use */
    hwloc_bitmap_t allowed_numas; /* OS indexes of the NUMA nodes whose memory the step may use */
    uint32_t *slot_of; /* [task_count]: the slot (plan/slot.h) of each task, at first its own */
    bool follows;      /* CPUs follow GPUs (plan/gpu_near.h) */
    bool acts;         /* ranks are bound: with mode on, unless that has failed */
};

/* Fills *planner, finds the rails, and adds their warnings to plan->warnings. `request` and `plan`
 * stay the caller's and must outlive *planner. Returns 0; or with *err -ENOMEM, or -EINVAL if the
 * `nic` option is malformed. In every case the caller frees *planner with nuioa_planner_free. */
int nuioa_planner_init(struct planner *planner, const struct nuioa_request *request,
                       struct nuioa_plan *plan, struct nuioa_error *err);

/* Frees what the planner owns: not the request, the plan, or `planner` itself. */
void nuioa_planner_free(struct planner *planner);

/* Makes `why` the reason of the plan, with its sentence. */
void nuioa_planner_say(struct planner *planner, enum nuioa_reason why);

/* Returns the level (plan/assignment.h) of `cpus` (OS indexes) from the NIC that the price of the
 * task with local rank `local` counts: where CPUs follow GPUs that of its GPU, else the nearest. */
uint32_t nuioa_nic_level(const struct planner *planner, uint32_t local, hwloc_const_bitmap_t cpus);

/* Returns that price: the cost of one unit of the task's traffic, as nuioa_rail_price says. */
double nuioa_nic_price(const struct planner *planner, uint32_t local, hwloc_const_bitmap_t cpus);

/* Returns true if Slurm bound no rank: if several ranks all have the same CPUs, or if a single rank
 * has all CPUs of the step. */
bool nuioa_unbound(const struct planner *planner);

/* Returns true if the ranks are to divide the CPUs that they share: with cores=share if Slurm bound
 * no rank, or if masks of two ranks overlap; with cores=auto if Slurm bound no rank, the user asked
 * for placement, and the ranks see no GPU or CPUs follow GPUs. */
bool nuioa_shares(const struct planner *planner);

#endif
