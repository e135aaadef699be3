/* SPDX-License-Identifier: BSD-3-Clause */
#include "reason_free.h"

#include "machine.h"

static hwloc_bitmap_t step; /* the CPUs of the step; reason_free_end() frees them */

/* Both ranks are on NUMA node 0; the step is the whole node. */
static void free_cpus(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 2, 1);
    s->options.asked = true;
}

void free_not_asked(struct plan_case *s)
{
    free_cpus(s);
    s->options.asked = false;
}

void free_bound(struct plan_case *s)
{
    free_cpus(s);
    s->request.bound_by_user = true;
    plan_case_option(s, "nuioa", "force");
}

void free_gpus(struct plan_case *s)
{
    free_cpus(s);
    s->request.sees_gpu = true;
    plan_case_option(s, "nuioa", "force");
    plan_case_option(s, "gpus", "keep");
}

void free_unconfined(struct plan_case *s)
{
    free_cpus(s);
    s->request.unconfined = true;
}

void free_overlap(struct plan_case *s)
{
    free_cpus(s);
    s->request.overlaps = true;
}

void free_keep(struct plan_case *s)
{
    free_cpus(s);
    plan_case_option(s, "cores", "keep");
}

/* srun -n2: the step is the cores of its ranks. */
void block_no_free(struct plan_case *s)
{
    free_cpus(s);
    step = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(step, 0, 1);
    s->request.allowed_cpus = step;
}

/* Both ranks have the farthest NUMA node, and another one each. */
void block_spread_equal(struct plan_case *s)
{
    free_cpus(s);
    plan_case_bind(s, "0,2-4;1,8-10");
}

/* The only rank has one of the two cores of its step. */
void alone_no_free(struct plan_case *s)
{
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 1, 1);
    s->options.asked = true;
    step = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(step, 0, 1);
    s->request.allowed_cpus = step;
}

void better_no_free(struct plan_case *s)
{
    block_no_free(s);
    plan_case_weigh_by(s, plan_case_equal);
}

void reason_free_end(void)
{
    hwloc_bitmap_free(step);
    step = NULL;
}
