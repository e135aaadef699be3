/* SPDX-License-Identifier: BSD-3-Clause */
#include "reason_spare.h"

#include "machine.h"

static hwloc_bitmap_t step; /* the CPUs of the step; reason_spare_free() frees them */

/* Both ranks are on NUMA node 0; the step is the whole node. */
static void spare(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 2, 1);
    s->options.asked = true;
}

void spare_not_asked(struct plan_case *s)
{
    spare(s);
    s->options.asked = false;
}

void spare_bound(struct plan_case *s)
{
    spare(s);
    s->request.bound_by_user = true;
    plan_case_option(s, "nuioa", "force");
}

void spare_gpus(struct plan_case *s)
{
    spare(s);
    s->request.sees_gpu = true;
    plan_case_option(s, "nuioa", "force");
    plan_case_option(s, "gpus", "keep");
}

void spare_unconfined(struct plan_case *s)
{
    spare(s);
    s->request.unconfined = true;
}

void spare_overlap(struct plan_case *s)
{
    spare(s);
    s->request.overlaps = true;
}

void spare_keep(struct plan_case *s)
{
    spare(s);
    plan_case_option(s, "cores", "keep");
}

/* srun -n2: the step is the cores of its ranks. */
void block_no_spare(struct plan_case *s)
{
    spare(s);
    step = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(step, 0, 1);
    s->request.allowed_cpus = step;
}

/* Both ranks have the farthest NUMA node, and another one each. */
void block_spread_equal(struct plan_case *s)
{
    spare(s);
    hwloc_bitmap_list_sscanf(s->masks[0], "0,2-4");
    hwloc_bitmap_list_sscanf(s->masks[1], "1,8-10");
}

/* The only rank has one of the two cores of its step. */
void alone_no_spare(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 1, 1);
    s->options.asked = true;
    step = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(step, 0, 1);
    s->request.allowed_cpus = step;
}

void better_no_spare(struct plan_case *s)
{
    block_no_spare(s);
    plan_case_weigh_by(s, plan_case_equal);
}

void reason_spare_free(void)
{
    hwloc_bitmap_free(step);
    step = NULL;
}
