/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"

#include <errno.h>
#include <stdlib.h>

#include "plan/gpu_near.h"

int nuioa_planner_init(struct planner *p, const struct nuioa_request *r, struct nuioa_plan *plan,
                       struct nuioa_error *err)
{
    *p = (struct planner){ .request = r, .plan = plan, .follows = nuioa_gpus_followed(r) };
    p->acts = r->options->mode == NUIOA_ON;
    p->allowed_cpus = hwloc_bitmap_dup(r->node->allowed_cpus);
    p->allowed_numas = hwloc_bitmap_dup(r->node->allowed_numas);
    p->slot_of = calloc(r->task_count, sizeof(*p->slot_of));
    if (!p->allowed_cpus || !p->allowed_numas || !p->slot_of)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < r->task_count; i++)
        p->slot_of[i] = i;
    if (r->allowed_cpus)
        hwloc_bitmap_copy(p->allowed_cpus, r->allowed_cpus);
    if (r->allowed_numas)
        hwloc_bitmap_copy(p->allowed_numas, r->allowed_numas);
    return nuioa_rails_init(&p->rails, r->node, r->options, &plan->warnings, err);
}

void nuioa_planner_free(struct planner *p)
{
    hwloc_bitmap_free(p->allowed_cpus);
    hwloc_bitmap_free(p->allowed_numas);
    free(p->slot_of);
    nuioa_rails_free(&p->rails);
}

void nuioa_planner_say(struct planner *p, enum nuioa_reason why)
{
    p->plan->why = why;
    nuioa_copy(p->plan->reason, sizeof(p->plan->reason), nuioa_reason_text(why));
}

uint32_t nuioa_nic_level(const struct planner *p, uint32_t local, hwloc_const_bitmap_t cpus)
{
    if (!p->follows)
        return nuioa_rails_nearest(&p->rails, cpus);
    return nuioa_gpu_nic_level(&p->rails, p->request->node, &p->request->tasks[local], cpus);
}

double nuioa_nic_price(const struct planner *p, uint32_t local, hwloc_const_bitmap_t cpus)
{
    const struct nuioa_request *r = p->request;
    if (!p->follows)
        return nuioa_rails_price(&p->rails, r->options, cpus);
    return nuioa_gpu_nic_price(&p->rails, r->node, r->options, &r->tasks[local], cpus);
}

bool nuioa_unbound(const struct planner *p)
{
    const struct nuioa_request *r = p->request;
    for (uint32_t i = 1; i < r->task_count; i++)
        if (!hwloc_bitmap_isequal(r->tasks[i].cpus, r->tasks[0].cpus))
            return false;
    return r->task_count > 1 || hwloc_bitmap_isequal(r->tasks[0].cpus, p->allowed_cpus);
}

/* Returns true if two ranks have CPUs in common, or if there is no memory to know. */
static bool masks_overlap(const struct nuioa_request *r)
{
    hwloc_bitmap_t seen = hwloc_bitmap_alloc();
    bool overlap = !seen;
    for (uint32_t i = 0; !overlap && i < r->task_count; i++) {
        overlap = hwloc_bitmap_intersects(seen, r->tasks[i].cpus) ||
                  hwloc_bitmap_or(seen, seen, r->tasks[i].cpus) < 0;
    }
    hwloc_bitmap_free(seen);
    return overlap;
}

bool nuioa_shares(const struct planner *p)
{
    const struct nuioa_request *r = p->request;
    if (r->options->cores == NUIOA_CORES_SHARE)
        return nuioa_unbound(p) || masks_overlap(r);
    return r->options->cores == NUIOA_CORES_AUTO && r->options->asked &&
           (!r->sees_gpu || p->follows) && nuioa_unbound(p);
}
