/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "machine.h"
#include "output/report.h"
#include "output/report_explain.h"
#include "plan_case.h"
#include "topology/interrupt.h"

/* Two NUMA nodes of four cores with two hardware threads: CPUs 0-3 and 8-11, 4-7 and 12-15. */
static struct plan_case *plan_case_cpu(unsigned tasks, unsigned cpus_per_task,
                                       const char *interrupts)
{
    struct plan_case *s = plan_case_new();
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    machine_build(&s->node, &(struct shape){
                                .numas = 2,
                                .cores = 4,
                                .threads = 2,
                                .numas_per_package = 1,
                            });
    machine_nic(&s->node, "eth", 1)->kind = NUIOA_NIC_ETHERNET;
    plan_case_on(s, tasks, cpus_per_task);
    plan_case_option(s, "policy", "cpu");
    hwloc_bitmap_list_sscanf(cpus, interrupts);
    s->request.interrupt_cpus = cpus;
    return s;
}

static void end(struct plan_case *s)
{
    hwloc_bitmap_free((hwloc_bitmap_t)(uintptr_t)s->request.interrupt_cpus);
    plan_case_free(s);
}

static const char *cpus(const struct plan_case *s, unsigned i)
{
    static char text[64];
    hwloc_bitmap_list_snprintf(text, sizeof(text), s->plan.assignments[i].cpus);
    return text;
}

static void assert_reason(const struct plan_case *s, const char *part)
{
    if (!strstr(s->plan.reason, part))
        fail_msg("reason '%s', wanted '%s'", s->plan.reason, part);
}

/* Ranks on cores 0, 1, 2 of NUMA node 0; interrupts on CPU 9, a thread of core 1: core 3 is
 * spare. */
static void test_spare_core(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_cpu(3, 2, "9");
    plan_case_make(s);
    assert_string_equal(cpus(s, 0), "0,8");
    assert_string_equal(cpus(s, 1), "3,11");
    assert_string_equal(cpus(s, 2), "2,10");
    assert_true(s->plan.moved);
    assert_reason(s, "1 of 1 ranks left");
    assert_string_equal(s->plan.mapping.mapper, "spare");
    char why[64];
    assert_string_equal(nuioa_report_why(&s->plan, 1, why, sizeof(why)),
                        "off the CPUs that serve interrupts");
    end(s);
}

/* Two cores are spare: the rank gets the one under the same L3. */
static void test_same_cache_first(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_cpu(2, 2, "1");
    s->node.pus[0].l3 = s->node.pus[1].l3 = s->node.pus[4].l3 = s->node.pus[5].l3 = 7;
    s->node.pus[2].l3 = s->node.pus[3].l3 = s->node.pus[6].l3 = s->node.pus[7].l3 = 8;
    plan_case_make(s);
    assert_string_equal(cpus(s, 1), "3,11");
    end(s);
}

static void assert_stays(struct plan_case *s, const char *reason)
{
    plan_case_make(s);
    assert_false(s->plan.moved);
    assert_reason(s, reason);
}

/* A rank stays if all cores are in use, if the spare ones are on another NUMA node, or if the step
 * may not use them. */
static void test_no_spare_core(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_cpu(8, 2, "0,5");
    assert_stays(s, "no spare core there");
    end(s);

    s = plan_case_cpu(4, 2, "0");
    assert_stays(s, "no spare core there");
    end(s);

    s = plan_case_cpu(2, 2, "0");
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    hwloc_bitmap_list_sscanf(allowed, "0-1,8-9,4-7,12-15");
    s->request.allowed_cpus = allowed;
    assert_stays(s, "no spare core there");
    /* half a core has fewer CPUs than the rank needs */
    hwloc_bitmap_set(allowed, 3);
    assert_stays(s, "no spare core there");
    hwloc_bitmap_set(allowed, 11);
    plan_case_make(s);
    assert_string_equal(cpus(s, 0), "3,11");
    hwloc_bitmap_free(allowed);
    end(s);

    s = plan_case_cpu(2, 2, "0-15"); /* everywhere */
    assert_stays(s, "no spare core there");
    end(s);
}

static void test_limits(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_cpu(2, 2, "0");
    s->request.bound_by_user = true;
    assert_stays(s, "--cpu-bind");
    s->request.bound_by_user = false;
    s->request.sees_gpu = true;
    assert_stays(s, "GPU");
    s->request.sees_gpu = false;
    plan_case_option(s, "cores", "keep");
    assert_stays(s, "cores=keep");
    plan_case_option(s, "cores", "auto");
    s->request.overlaps = true; /* another step may use the spare cores */
    assert_stays(s, "(srun without --overlap)");
    s->request.overlaps = false;
    s->request.unconfined = true; /* they may be another job's */
    assert_stays(s, "no spare core there");
    s->request.unconfined = false;
    s->options.mode = NUIOA_EXPORT;
    assert_stays(s, "export");
    s->options.mode = NUIOA_ON;
    hwloc_bitmap_t first = hwloc_bitmap_dup(s->masks[0]);
    hwloc_bitmap_copy(s->masks[0], s->node.allowed_cpus);
    hwloc_bitmap_copy(s->masks[1], s->node.allowed_cpus);
    assert_stays(s, "all ranks share the same CPUs");
    hwloc_bitmap_copy(s->masks[0], first);
    hwloc_bitmap_free(first);
    hwloc_bitmap_only(s->masks[1], 1);
    plan_case_option(s, "policy", "bandwidth"); /* only policy=cpu avoids interrupts */
    plan_case_make(s);
    assert_true(hwloc_bitmap_isset(s->plan.assignments[0].cpus, 0) ||
                hwloc_bitmap_isset(s->plan.assignments[1].cpus, 0));
    end(s);

    s = plan_case_cpu(2, 2, "4-7");
    assert_stays(s, "no rank is where NIC interrupts");
    hwloc_bitmap_zero((hwloc_bitmap_t)(uintptr_t)s->request.interrupt_cpus);
    assert_stays(s, "no interrupts of an Ethernet NIC are known");
    end(s);
}

/* A rank with several cores gives up one of them. A rank that cannot move does not stop others. */
static void test_wide_ranks(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_cpu(1, 6, "1");
    plan_case_make(s);
    assert_string_equal(cpus(s, 0), "0,2-3,8,10-11");
    end(s);

    s = plan_case_cpu(2, 6, "1,4-5"); /* rank 1 has cores 3, 4, 5: only 6 and 7 are spare */
    plan_case_make(s);
    assert_string_equal(cpus(s, 0), "0-2,8-10");
    assert_string_equal(cpus(s, 1), "3,6-7,11,14-15");
    assert_reason(s, "1 of 2 ranks left");
    end(s);
}

/* Spare cores under another cache would separate ranks with mutual traffic. */
static void test_neighbours(void **state)
{
    (void)state;
    static const struct nuioa_pair pairs[] = { { 0, 1, 100 } };
    struct plan_case *s = plan_case_cpu(2, 2, "1");
    for (int i = 4; i < 8; i++)
        s->node.pus[i].l3 = 9;
    s->request.pairs = pairs;
    s->request.pair_count = 1;
    assert_stays(s, "tear neighbours apart");
    for (int i = 4; i < 8; i++)
        s->node.pus[i].l3 = s->node.pus[0].l3;
    plan_case_make(s);
    assert_true(s->plan.moved);
    end(s);
}

/* For all masks and all interrupts: each rank has as many CPUs as before, on the same NUMA nodes;
 * all belong to the step, and none to two ranks; and no rank gets a core that serves interrupts. */
static void test_fuzz(void **state)
{
    (void)state;
    uint32_t seed = 11;
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc(), seen = hwloc_bitmap_alloc();
    hwloc_bitmap_t numas = hwloc_bitmap_alloc(), was = hwloc_bitmap_alloc();
    for (int round = 0; round < 500; round++) {
        struct plan_case *s = plan_case_cpu(4, 1, "0");
        hwloc_bitmap_t interrupts = (hwloc_bitmap_t)(uintptr_t)s->request.interrupt_cpus;
        hwloc_bitmap_zero(interrupts);
        hwloc_bitmap_zero(allowed);
        for (unsigned i = 0; i < 4; i++)
            hwloc_bitmap_zero(s->masks[i]);
        for (unsigned cpu = 0; cpu < 16; cpu++) {
            unsigned owner = (seed = seed * 1664525 + 1013904223) >> 29; /* 4 to 6: spare */
            if (owner != 7)
                hwloc_bitmap_set(allowed, cpu);
            if (owner < 4)
                hwloc_bitmap_set(s->masks[owner], cpu);
            if ((seed >> 20 & 7) < 2)
                hwloc_bitmap_set(interrupts, cpu);
        }
        for (unsigned i = 0; i < 4; i++)
            if (hwloc_bitmap_iszero(s->masks[i])) {
                hwloc_bitmap_set(s->masks[i], 16 + i); /* this CPU is not in the node */
                hwloc_bitmap_set(allowed, 16 + i);
            }
        s->request.allowed_cpus = allowed;
        plan_case_make(s);
        hwloc_bitmap_zero(seen);
        for (unsigned i = 0; i < 4; i++) {
            const struct nuioa_assignment *p = &s->plan.assignments[i];
            assert_int_equal(hwloc_bitmap_weight(p->cpus), hwloc_bitmap_weight(s->masks[i]));
            assert_true(hwloc_bitmap_isincluded(p->cpus, allowed));
            assert_false(hwloc_bitmap_intersects(seen, p->cpus));
            hwloc_bitmap_or(seen, seen, p->cpus);
            nuioa_node_numas_of(&s->node, s->masks[i], numas);
            assert_true(hwloc_bitmap_isequal(numas, p->numas));
            hwloc_bitmap_and(numas, p->cpus, interrupts);
            hwloc_bitmap_and(was, s->masks[i], interrupts);
            assert_true(hwloc_bitmap_isincluded(numas, was));
        }
        end(s);
    }
    hwloc_bitmap_free(allowed);
    hwloc_bitmap_free(seen);
    hwloc_bitmap_free(numas);
    hwloc_bitmap_free(was);
}

/* --- where interrupts are served -------------------------------------------------------------- */

static char root[] = "/tmp/nuioa-interrupts-XXXXXX";

/* Writes a file of the kernel below `root`. */
static void put(const char *path, const char *text)
{
    char full[256];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    for (char *slash = full + sizeof(root); (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        if (mkdir(full, 0755))
            assert_int_equal(errno, EEXIST);
    }
    FILE *out = fopen(full, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static struct nuioa_nic *ethernet(struct nuioa_node *node, const char *netdev)
{
    struct nuioa_nic *nic = machine_nic(node, netdev, 0);
    nic->kind = NUIOA_NIC_ETHERNET;
    nuioa_copy(nic->netdev, sizeof(nic->netdev), netdev);
    return nic;
}

static void test_interrupt_cpus(void **state)
{
    (void)state;
    struct nuioa_node node;
    hwloc_bitmap_t found = hwloc_bitmap_alloc();
    char text[64];
    assert_non_null(mkdtemp(root));
    machine_build(&node, &(struct shape){
                             .numas = 1,
                             .cores = 8,
                             .threads = 1,
                             .numas_per_package = 1,
                         });
    ethernet(&node, "eth0");    /* three vectors, one of them without an interrupt */
    ethernet(&node, "virtio0"); /* its PCI device is one level above */
    ethernet(&node, "old0"); /* it has an interrupt line instead of message-signalled interrupts */
    ethernet(&node, "down0")->state = NUIOA_NIC_DOWN;
    ethernet(&node, "ib0")->kind = NUIOA_NIC_INFINIBAND;
    ethernet(&node, "gone0");
    assert_int_equal(nuioa_interrupt_cpus(&node, root, found), 0);
    assert_true(hwloc_bitmap_iszero(found));

    put("sys/class/net/eth0/device/msi_irqs/40", "msix\n");
    put("sys/class/net/eth0/device/msi_irqs/41", "msix\n");
    put("sys/class/net/eth0/device/msi_irqs/42", "msix\n");
    put("sys/kernel/irq/40/per_cpu_count", "0,0,12,0,0,0,0,0\n");
    put("sys/kernel/irq/41/per_cpu_count", "0,0,0,0,0,0,0,0\n");
    put("proc/irq/40/effective_affinity_list", "2\n");
    put("proc/irq/40/smp_affinity_list", "0-7\n");
    put("proc/irq/41/effective_affinity_list", "3\n");
    put("proc/irq/42/smp_affinity_list", "4-5\n"); /* an old kernel, which has no counts */
    put("sys/class/net/virtio0/device/x", "");
    put("sys/class/net/virtio0/msi_irqs/43", "msix\n");
    put("proc/irq/43/effective_affinity_list", "6\n");
    put("sys/class/net/old0/device/irq", "11\n");
    put("proc/irq/11/effective_affinity_list", "0\n");
    put("sys/class/net/down0/device/irq", "12\n");
    put("proc/irq/12/effective_affinity_list", "1\n");
    put("sys/class/net/ib0/device/irq", "12\n");
    put("sys/class/net/gone0/device/irq", "99\n");
    assert_int_equal(nuioa_interrupt_cpus(&node, root, found), 4);
    hwloc_bitmap_list_snprintf(text, sizeof(text), found);
    assert_string_equal(text, "0,2,4-6");

    put("proc/irq/40/effective_affinity_list", "rubbish\n");
    put("proc/irq/42/smp_affinity_list",
        "4-\n"); /* incomplete: hwloc reads it as all CPUs from 4 on */
    assert_int_equal(nuioa_interrupt_cpus(&node, root, found), 2);
    hwloc_bitmap_list_snprintf(text, sizeof(text), found);
    assert_string_equal(text, "0,6");

    hwloc_bitmap_free(found);
    nuioa_node_free(&node);
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spare_core),    cmocka_unit_test(test_same_cache_first),
        cmocka_unit_test(test_no_spare_core), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_wide_ranks),    cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_fuzz),          cmocka_unit_test(test_interrupt_cpus),
    };
    return cmocka_run_group_tests_name("avoid", tests, NULL, NULL);
}
