/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"

#include <errno.h>
#include <stdlib.h>

int nuioa_planner_init(struct planner *p, const struct nuioa_request *r, struct nuioa_plan *plan,
                       struct nuioa_error *err)
{
    *p = (struct planner){ .plan = plan, .acts = r->options->mode == NUIOA_ON };
    p->slot_of = calloc(r->task_count, sizeof(*p->slot_of));
    for (uint32_t i = 0; p->slot_of && i < r->task_count; i++)
        p->slot_of[i] = i;
    int rc = nuioa_basis_init(&p->basis, r, &plan->warnings, err);
    return rc == 0 && !p->slot_of ? nuioa_fail(err, -ENOMEM, "out of memory") : rc;
}

void nuioa_planner_free(struct planner *p)
{
    nuioa_basis_free(&p->basis);
    free(p->slot_of);
}

void nuioa_planner_say(struct planner *p, enum nuioa_reason why)
{
    p->plan->why = why;
    nuioa_copy(p->plan->reason, sizeof(p->plan->reason), nuioa_reason_text(why));
}
