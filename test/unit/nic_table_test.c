/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of each GPU's NICs is what a plan for one rank on each GPU would choose. */

#include "nics/nic_table.h"
#include "plan_case.h"
#include "unit.h"

enum { PAIRS = 4 };

/* A switch on each of four NUMA nodes, with a GPU and, if `many`, two NICs; else there are two
 * NICs in all. */
static struct plan_case *begin(bool many)
{
    static const char *const names[] = { "a0", "a1", "b0", "b1", "c0", "c1", "d0", "d1" };
    struct plan_case *s = plan_case_new();
    const struct shape shape = { .numas = PAIRS, .cores = 2, .threads = 1, .numas_per_package = 2 };
    machine_build(&s->node, &shape);
    for (unsigned i = 0; i < (many ? 2 * PAIRS : 2); i++)
        machine_nic(&s->node, names[i], many ? i / 2 : 3 * i);
    for (unsigned g = 0; g < PAIRS; g++)
        machine_gpu(&s->node, g);
    for (unsigned g = 0; many && g < PAIRS; g++)
        for (unsigned n = 0; n < 2 * PAIRS; n++)
            machine_path(&s->node, g, n, n / 2 == g ? NUIOA_PATH_PIX : NUIOA_PATH_SYS);
    plan_case_on(s, PAIRS, 2);
    plan_case_unbind(s);
    s->request.sees_gpu = true;
    s->request.allowed_cpus = s->node.allowed_cpus;
    plan_case_weigh_by(s, plan_case_equal);
    plan_case_gpus(s, "0;1;2;3");
    s->options.mode = NUIOA_EXPORT;
    return s;
}

static void check(struct plan_case *s)
{
    struct nuioa_nic_table table;
    plan_case_make(s);
    assert_int_equal(nuioa_nic_table_make(&s->request, &table), 0);
    assert_int_equal(table.gpu_count, PAIRS);
    for (uint32_t g = 0; g < PAIRS; g++) {
        const struct nuioa_assignment *rank = &s->plan.assignments[g];
        assert_true(rank->nic_count > 0);
        assert_int_equal(table.gpus[g].nic_count, rank->nic_count);
        assert_memory_equal(table.gpus[g].nics, rank->nics, rank->nic_count * sizeof(*rank->nics));
    }
    assert_int_equal(table.usable.count, s->node.nic_count);
    assert_int_equal(table.usable.connected, s->plan.usable.connected);
    nuioa_arena_free(&table.arena);
}

TEST(test_table)
{
    static const char *const rails[] = { "auto", "1", "2", "connected" };
    for (unsigned many = 0; many < 2; many++)
        for (unsigned i = 0; i < sizeof(rails) / sizeof(*rails); i++) {
            struct plan_case *s = begin(many);
            plan_case_option(s, "rails", rails[i]);
            check(s);
        }
}
