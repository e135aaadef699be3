/* SPDX-License-Identifier: BSD-3-Clause */
#include "reason_cpu.h"

#include "machine.h"

static hwloc_bitmap_t interrupts; /* reason_cpu_free() frees them */

/* Eight cores on two sockets; the Ethernet NIC interrupts the CPUs of `list`. */
static void computing(struct plan_case *s, unsigned tasks, const char *list)
{
    machine_build(&s->node, &(struct shape){ 2, 4, 1, 1, NULL });
    machine_nic(&s->node, "eth0", 1)->kind = NUIOA_NIC_ETHERNET;
    plan_case_on(s, tasks, 1);
    plan_case_option(s, "policy", "cpu");
    interrupts = hwloc_bitmap_alloc();
    hwloc_bitmap_list_sscanf(interrupts, list);
    s->request.interrupt_cpus = interrupts;
}

void cpu_unknown(struct plan_case *s)
{
    computing(s, 3, "");
}

void cpu_alone(struct plan_case *s)
{
    computing(s, 1, "0");
    hwloc_bitmap_copy(s->masks[0], s->node.allowed_cpus);
}

void cpu_share(struct plan_case *s)
{
    computing(s, 2, "0");
    for (unsigned i = 0; i < 2; i++)
        hwloc_bitmap_copy(s->masks[i], s->node.allowed_cpus);
}

void cpu_keep(struct plan_case *s)
{
    computing(s, 3, "0");
    plan_case_option(s, "cores", "keep");
}

void cpu_quiet(struct plan_case *s)
{
    computing(s, 3, "7");
}

void cpu_no_spare(struct plan_case *s)
{
    computing(s, 8, "0");
}

void cpu_overlap(struct plan_case *s)
{
    computing(s, 3, "0");
    s->request.overlaps = true;
}

/* The spare core does not share a cache with the other rank. */
void cpu_costs(struct plan_case *s)
{
    static const struct nuioa_pair pair[] = { { 0, 1, 9 } };
    computing(s, 2, "1");
    for (int i = 2; i < 4; i++)
        s->node.pus[i].l3 = 9;
    s->request.pairs = pair;
    s->request.pair_count = 1;
}

void cpu_moved(struct plan_case *s)
{
    computing(s, 3, "0");
}

void reason_cpu_free(void)
{
    hwloc_bitmap_free(interrupts);
    interrupts = NULL;
}
