/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/planner.h"
#include "plan/plan.h"
#include "plan_words.h"
#include "unit.h"

/* Tests of what follows from the CPUs of the ranks (NIC, memory, leader), and of errors. Where
 * ranks run is tested in plan_test.c. */

TEST(test_nics_are_shared)
{
    struct plan_case *s = plan_case_of("quad ranks=8x1 equal");
    plan_case_make(s);
    assert_false(s->plan.moved);
    unsigned load[2] = { 0, 0 };
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(hwloc_bitmap_weight(s->plan.assignments[i].cpus), 2); /* both threads */
        load[s->plan.assignments[i].nic]++;
    }
    assert_int_equal(load[0], 4);
    assert_int_equal(s->plan.assignments[2].nic, 0); /* NUMA node 1 */
    assert_int_equal(s->plan.assignments[6].nic, 1); /* NUMA node 3 */
    assert_int_equal(s->plan.rail_leader_count, 2);

    plan_case_option(s, "nic", "^mlx5_1");
    plan_case_make(s);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(s->plan.assignments[i].nic, 0);
}

TEST(test_equally_near_nics_share_by_weight_and_card)
{
    struct plan_case *s = plan_case_new();
    machine_plain(&s->node, 1, 8);
    machine_nic(&s->node, "mlx5_0", 0);
    machine_nic(&s->node, "mlx5_1", 0)->card = 0; /* second port of the first card */
    machine_nic(&s->node, "mlx5_2", 0);
    plan_case_on(s, 8, 1);
    plan_case_weigh_by(s, plan_case_equal);
    plan_case_make(s);
    unsigned load[3] = { 0, 0, 0 };
    for (unsigned i = 0; i < 8; i++)
        load[s->plan.assignments[i].nic]++;
    assert_int_equal(load[2], 4);
    assert_int_equal(load[0], 2);

    for (unsigned i = 0; i < 8; i++)
        s->tasks[i].weight = i ? 1 : 7; /* one rank is as heavy as all others together */
    plan_case_make(s);
    for (unsigned i = 1; i < 8; i++)
        assert_int_not_equal(s->node.nics[s->plan.assignments[i].nic].card,
                             s->node.nics[s->plan.assignments[0].nic].card);
}

TEST(test_memory)
{
    struct plan_case *s = plan_case_of("quad ranks=8x1");
    char text[64];
    plan_case_weigh_by(s, plan_case_equal);
    hwloc_bitmap_clr(s->node.allowed_numas, 0); /* the step may not use the memory of NUMA node 0 */
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)), "default");
    plan_case_option(s, "mem", "local");
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)),
                        "preferred:1");
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[4], text, sizeof(text)),
                        "preferred:2");
    plan_case_option(s, "mem", "interleave");
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)),
                        "interleave:1,3");
    plan_case_option(s, "mem", "nic");
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[6], text, sizeof(text)),
                        "preferred:3");
    s->request.memory_by_user = true;
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[6], text, sizeof(text)), "kept");
}

/* Returns the memory of the only rank, which is on NUMA node 1. */
static const char *memory_with(struct plan_case *s, const char *mem)
{
    static char text[64];
    plan_case_option(s, "mem", mem);
    plan_case_make(s);
    nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text));
    return text;
}

/* NUMA node 2 is memory without CPUs, local to those of NUMA node 1, as the NIC is. */
TEST(test_memory_without_cpus)
{
    static const uint32_t matrix[] = { 10, 21, 24, 21, 10, 13, 24, 13, 10 };
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 3, 2, 1, 1, matrix });
    s->node.pu_count = s->node.core_count = 4;
    hwloc_bitmap_andnot(s->node.allowed_cpus, s->node.allowed_cpus, s->node.numas[2].cpus);
    hwloc_bitmap_zero(s->node.numas[2].cpus);
    nuioa_distance_levels(&s->node.distance, &s->node);
    hwloc_bitmap_set(machine_nic(&s->node, "mlx5_0", 1)->numas, 2);
    plan_case_on(s, 1, 1);
    hwloc_bitmap_copy(s->masks[0], s->node.numas[1].cpus);
    assert_string_equal(memory_with(s, "interleave"), "interleave:1");
    assert_string_equal(memory_with(s, "nic"), "preferred:1");
    /* It is taken where the step may use no other, or where it is all that is near the NIC. */
    hwloc_bitmap_only(s->node.allowed_numas, 2);
    assert_string_equal(memory_with(s, "interleave"), "interleave:2");
    hwloc_bitmap_set_range(s->node.allowed_numas, 0, 2);
    s->node.numas[1].memory_bytes = 0;
    assert_string_equal(memory_with(s, "nic"), "preferred:2");
    /* NUMA nodes with CPUs come before those without. */
    hwloc_bitmap_only(s->node.nics[0].numas, 1);
    assert_string_equal(memory_with(s, "nic"), "preferred:0");
}

/* Nobody moves and no policy is set where NUMA nodes cut through cores, whatever is requested. */
TEST(test_cut)
{
    static const struct {
        const char *option, *value;
    } more[] = { { "cores", "auto" },
                 { "cores", "pack" },
                 { "mem", "local" },
                 { "mem", "interleave" },
                 { "mem", "nic" } };
    static const struct nuioa_pair pairs[] = { { 0, 15, 100 }, { 1, 14, 100 } };
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        struct plan_case *s = plan_case_of("hagrid=5 ranks=16x1 equal");
        s->tasks[0].weight = 9;
        s->request.pairs = pairs;
        s->request.pair_count = 2;
        plan_case_option(s, more[i].option, more[i].value);
        s->options.force = true;
        plan_case_make(s);
        assert_true(s->plan.moved || s->plan.assignments[0].memory != NUIOA_MEMORY_DEFAULT);
        s->node.cut = true;
        plan_case_make(s);
        assert_int_equal(s->plan.why, NUIOA_REASON_NUMA_CUT);
        assert_false(s->plan.moved);
        for (uint32_t k = 0; k < 16; k++)
            assert_int_equal(s->plan.assignments[k].memory, NUIOA_MEMORY_DEFAULT);
    }
}

TEST(test_latency_uses_both_directions)
{
    /* The NIC is on NUMA node 0. Seen from there, 1 is nearer than 2; in both directions, 2 is. */
    static const uint32_t matrix[9] = { 10, 20, 24, 60, 10, 40, 24, 40, 10 };
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 3, 1, 1, 1, matrix });
    machine_nic(&s->node, "mlx5_0", 0);
    plan_case_on(s, 3, 1);
    plan_case_weigh_by(s, plan_case_descending);
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "0,1,2");
    plan_case_option(s, "policy", "latency");
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "0,2,1");
}

/* When the limit of processor time has passed, there is no plan, with or without pairs. Without a
 * limit, and with one that is far away, there is a plan. */
TEST(test_processor_time)
{
    struct nuioa_pair pairs[28];
    uint32_t count = 0;
    for (uint32_t second = 1; second < 8; second++)
        for (uint32_t first = 0; first < second; first++)
            pairs[count++] = (struct nuioa_pair){ first, second, 1 + (first * 7 + second * 3) % 5 };
    for (int with_pairs = 0; with_pairs < 2; with_pairs++) {
        struct plan_case *s = plan_case_of("hagrid=5 ranks=8x1 falling");
        s->request.pairs = pairs;
        s->request.pair_count = with_pairs ? count : 0;
        plan_case_make(s);
        s->request.cpu_until_us = UINT64_MAX;
        plan_case_make(s);
        assert_true(s->plan.moved);
        nuioa_plan_free(&s->plan);
        s->request.cpu_until_us = 1;
        assert_int_equal(nuioa_plan_make(&s->request, &s->plan, &s->err), -ETIME);
        assert_non_null(strstr(s->err.text, "processor time"));
        assert_null(s->plan.assignments);
    }
}
