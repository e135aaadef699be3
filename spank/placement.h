/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_PLACEMENT_H
#define SPANK_PLACEMENT_H

#include "plan/plan.h"
#include "spank/stepd_context.h"

/* The plan of a step on this node and what it was made from, when all its tasks exist, are where
 * Slurm put them, and have not run yet. */

struct placement {
    uint32_t count;
    hwloc_bitmap_t *masks;         /* [count]: where Slurm put the tasks */
    struct nuioa_task *tasks;      /* [count] */
    hwloc_bitmap_t interrupt_cpus; /* with policy=cpu; else NULL */
    hwloc_bitmap_t allowed_cpus;   /* of the step */
    hwloc_bitmap_t allowed_numas;  /* NULL: what the node allows */
    struct nuioa_request request;  /* points to the above */
    struct nuioa_plan plan;
};

/* Looks and plans; nothing is changed yet. Reads step, node, hints, options and pids of
 * `context`. 0, or negative with *err. Free it in either case. */
int placement_make(const struct stepd_context *context, struct placement *placement,
                   struct nuioa_error *err);

/* Binds the tasks as planned and reads back what came of it. All or none: with one task refused,
 * others would sit in its place, so all get back what Slurm gave them, the plan says so, and
 * *err why. */
int placement_bind(const struct stepd_context *context, struct placement *placement,
                   struct nuioa_error *err);

void placement_free(struct placement *placement);

#endif
