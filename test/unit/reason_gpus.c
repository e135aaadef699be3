/* SPDX-License-Identifier: BSD-3-Clause */
#include "reason_gpus.h"

#include "machine.h"

/* Two ranks on two sockets, each with a GPU of the other one; the user typed --nuioa. */
void follow(struct plan_case *s)
{
    machine_plain(&s->node, 2, 2);
    machine_nic(&s->node, "mlx5_0", 0);
    machine_gpu(&s->node, 0);
    machine_gpu(&s->node, 1);
    plan_case_on(s, 2, 2);
    s->options.asked = true;
    plan_case_gpus(s, "1;0");
}

void gpus_keep(struct plan_case *s)
{
    follow(s);
    s->options.asked = false;
}

void gpus_unknown(struct plan_case *s)
{
    follow(s);
    plan_case_gpus(s, "0;?");
}

void gpus_shared(struct plan_case *s)
{
    follow(s);
    plan_case_gpus(s, "?0,1;?0,1");
}

void gpus_no_numa(struct plan_case *s)
{
    follow(s);
    hwloc_bitmap_zero(s->node.gpus[1].numas);
}

/* One core of each socket is free. */
void follow_free(struct plan_case *s)
{
    follow(s);
    plan_case_bind(s, "0;2");
    plan_case_gpus(s, "1;1");
}

void follow_nearest(struct plan_case *s)
{
    follow(s);
    plan_case_gpus(s, "0;1");
}

void follow_far(struct plan_case *s)
{
    follow(s);
    plan_case_gpus(s, "0;0");
}

void follow_no_free(struct plan_case *s)
{
    follow_free(s);
    plan_case_option(s, "cores", "keep");
}

void follow_share(struct plan_case *s)
{
    follow(s);
    plan_case_unbind(s);
}

/* The step has three cores of the GPU's socket, and one of the other. */
void follow_share_far(struct plan_case *s)
{
    machine_plain(&s->node, 2, 3);
    machine_gpu(&s->node, 0);
    plan_case_on(s, 2, 2);
    s->options.asked = true;
    plan_case_gpus(s, "0;0");
    plan_case_bind(s, "0-3;0-3");
}

void follow_share_takes(struct plan_case *s)
{
    follow_share(s);
    plan_case_gpus(s, "1;1");
}

void follow_alone(struct plan_case *s)
{
    follow(s);
    s->request.task_count = 1;
}

void follow_costs(struct plan_case *s)
{
    static const double weights[] = { 2, 1 };
    follow(s);
    plan_case_weigh(s, weights);
}
