/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_PLACEMENT_H
#define SPANK_STEPD_PLACEMENT_H

#include "plan/plan.h"
#include "ranks/request.h"
#include "spank/stepd/step_run.h"

/* The plan for a step's tasks on this node, and what it was made from. All tasks exist, are bound
 * as Slurm bound them, and do not run yet. */

struct placement {
    uint32_t count;               /* the number of the step's tasks on this node */
    hwloc_bitmap_t *masks;        /* [count], by local rank: CPUs that Slurm bound the tasks to */
    struct nuioa_task *tasks;     /* [count], by local rank */
    uint32_t *gpus;               /* those of all tasks, which point into it */
    hwloc_bitmap_t allowed_cpus;  /* CPUs of the step */
    hwloc_bitmap_t allowed_numas; /* NUMA nodes of the step; NULL: all that the node allows */
    struct nuioa_request request; /* points to the members above, and into the context */
    struct nuioa_plan plan;
};

/* Reads how the tasks are bound and makes the plan; it changes no task. Uses the options, step,
 * node, hints, profile, gpus and forked of `context`, which must stay valid as long as
 * *placement. *placement need not be initialised, and must not be moved or copied afterwards.
 * `stay` says why no task may move, or is NUIOA_REASON_NONE; if it says why, tasks may have ended.
 * Planning ends at `cpu_until_us`, a time of nuioa_cpu_us() of this thread. Returns 0, or -errno
 * with *err. The caller calls placement_free() in either case. */
int placement_make(struct step_run *context, enum nuioa_reason stay, uint64_t cpu_until_us,
                   struct placement *placement, struct nuioa_error *err);

/* Binds the tasks to the CPUs of their assignments in placement->plan and checks the result. It
 * binds all or none: if one fails, all tasks are bound again as Slurm bound them, because others
 * would use its CPUs, and the plan is changed to say so. It binds nothing if the plan is for
 * another machine (plan.planned). Returns 0; or -errno with *err, and the placement is still
 * valid. */
int placement_bind(const struct step_run *context, struct placement *placement,
                   struct nuioa_error *err);

/* Frees what *placement holds, not the struct itself. */
void placement_free(struct placement *placement);

#endif
