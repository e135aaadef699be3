/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "ranks/request.h"

int nuioa_plan_begin(struct nuioa_plan *plan, const struct nuioa_request *r)
{
    *plan = (struct nuioa_plan){
        .planned = r->planned,
        .policy = r->options->policy,
        .hinted = r->hinted,
        .task_count = r->task_count,
    };
    plan->assignments = calloc(r->task_count, sizeof(*plan->assignments));
    plan->order = calloc(r->task_count, sizeof(*plan->order));
    plan->rail_leaders = calloc(r->task_count, sizeof(*plan->rail_leaders));
    if (!plan->assignments || !plan->order || !plan->rail_leaders)
        return -ENOMEM;
    for (uint32_t i = 0; i < r->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        assignment->cpus = hwloc_bitmap_dup(r->tasks[i].cpus);
        assignment->was = hwloc_bitmap_dup(r->tasks[i].cpus);
        assignment->numas = hwloc_bitmap_alloc();
        assignment->memory_numas = hwloc_bitmap_alloc();
        if (!assignment->cpus || !assignment->was || !assignment->numas ||
            !assignment->memory_numas)
            return -ENOMEM;
    }
    return 0;
}

void nuioa_plan_free(struct nuioa_plan *plan)
{
    for (uint32_t i = 0; plan->assignments && i < plan->task_count; i++) {
        struct nuioa_assignment *assignment = &plan->assignments[i];
        hwloc_bitmap_free(assignment->cpus);
        hwloc_bitmap_free(assignment->was);
        hwloc_bitmap_free(assignment->numas);
        hwloc_bitmap_free(assignment->memory_numas);
        nuioa_assignment_drop_places(assignment);
    }
    nuioa_assignments_free(plan->assignments, plan->task_count);
    free(plan->order);
    free(plan->rail_leaders);
    free(plan->usable.nics);
    *plan = (struct nuioa_plan){ 0 };
}
