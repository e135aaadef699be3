/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan.h"

#include <stdlib.h>

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
