/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "machine.h"
#include "plan_case.h"

static void weigh(struct plan_case *s, double (*weight)(unsigned))
{
    s->request.hinted = true;
    for (unsigned i = 0; i < s->request.task_count; i++)
        s->tasks[i].weight = weight(i);
}

static double descending(unsigned i)
{
    return 64 - (double)i;
}
static double equal(unsigned i)
{
    (void)i;
    return 5;
}
static double last_heavy(unsigned i)
{
    return i == 15 ? 10 : 1;
}

/* Every rank has CPUs of Slurm's making, and no two the same. */
static void assert_permutation(const struct plan_case *s)
{
    for (unsigned i = 0; i < s->plan.task_count; i++) {
        unsigned hits = 0;
        for (unsigned k = 0; k < s->plan.task_count; k++) {
            hits += hwloc_bitmap_isequal(s->plan.assignments[i].cpus, s->masks[k]);
            assert_true(i == k || !hwloc_bitmap_intersects(s->plan.assignments[i].cpus,
                                                           s->plan.assignments[k].cpus));
        }
        assert_int_equal(hits, 1);
    }
}

static void test_hop_order_from_node_5(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 16, 1);
    weigh(s, descending);
    plan_case_make(s);
    assert_permutation(s);
    assert_true(s->plan.moved);
    assert_string_equal(s->plan.mapping.mapper, "hopsort");
    static const unsigned level[8] = { 3, 2, 2, 1, 2, 0, 1, 1 };
    static const unsigned wanted[16] = { 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3 };
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(level[hwloc_bitmap_first(s->plan.assignments[i].numas)], wanted[i]);
        assert_int_equal(s->plan.assignments[i].level, wanted[i]);
        assert_int_equal(s->plan.assignments[i].memory, NUIOA_MEMORY_PREFERRED);
        assert_true(hwloc_bitmap_isequal(s->plan.assignments[i].memory_numas,
                                         s->plan.assignments[i].numas));
    }
    assert_int_equal(s->plan.order[0], 0);
    assert_int_equal(s->plan.near, 2);
    assert_true(s->plan.mapping.cost == s->plan.mapping.bound);
    plan_case_free(s);
}

static void test_hop_order_from_node_0(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 0);
    plan_case_on(s, 16, 1);
    weigh(s, descending);
    plan_case_make(s);
    static const unsigned level[8] = { 0, 1, 1, 2, 2, 4, 3, 3 };
    unsigned last = 0;
    for (unsigned i = 0; i < 16; i++) {
        unsigned here = level[hwloc_bitmap_first(s->plan.assignments[i].numas)];
        assert_true(here >= last);
        last = here;
    }
    plan_case_free(s);
}

/* One heavy rank: it and the one it displaces move, nobody else. */
static void test_moves_no_more_than_needed(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 0);
    plan_case_on(s, 16, 1);
    weigh(s, last_heavy);
    plan_case_make(s);
    unsigned moved = 0;
    for (unsigned i = 0; i < 16; i++)
        moved += s->plan.assignments[i].moved;
    assert_int_equal(hwloc_bitmap_first(s->plan.assignments[15].numas), 0);
    assert_int_equal(moved, 2);
    assert_int_equal(s->plan.order[0], 15);
    plan_case_free(s);
}

static void test_equal_weights_stay(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 16, 1);
    weigh(s, equal);
    plan_case_make(s);
    assert_false(s->plan.moved);
    assert_string_equal(s->plan.mapping.mapper, "keep");
    assert_int_equal(s->plan.order[0], 10);
    plan_case_free(s);
}

static double chain_cost(const struct plan_case *s)
{
    double cost = 0;
    for (unsigned i = 0; i + 1 < s->plan.task_count; i++) {
        int a = hwloc_bitmap_first(s->plan.assignments[i].numas);
        int b = hwloc_bitmap_first(s->plan.assignments[i + 1].numas);
        cost += a == b ? 10
                       : (nuioa_distance_at(&s->node.distance, a, b) +
                          nuioa_distance_at(&s->node.distance, b, a)) /
                             2.0;
    }
    return cost;
}

static void test_block_move(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 16, 1);
    plan_case_option(s, "nuioa", "export");
    plan_case_make(s);
    double before = chain_cost(s);
    assert_false(s->plan.moved);
    nuioa_plan_free(&s->plan);

    plan_case_option(s, "nuioa", "on");
    plan_case_make(s);
    assert_permutation(s);
    assert_true(s->plan.moved);
    assert_int_equal(hwloc_bitmap_first(s->plan.assignments[0].numas), 5);
    for (unsigned i = 0; i < 16; i += 2)
        assert_true(
            hwloc_bitmap_isequal(s->plan.assignments[i].numas, s->plan.assignments[i + 1].numas));
    assert_true(chain_cost(s) <= before);
    assert_int_equal(s->plan.order[0], 0);
    plan_case_free(s);
}

/* Two ranks on node 0 and one on each other node: no block of equal size is nearer the NIC. */
static void test_blocks_of_unequal_size_stay(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 9, 1);
    for (unsigned i = 2; i < 9; i++)
        hwloc_bitmap_only(s->masks[i], 2 * (i - 1));
    plan_case_make(s);
    assert_false(s->plan.moved);
    plan_case_free(s);
}

static void test_one_rank_alone(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 1, 1);
    plan_case_make(s);
    assert_int_equal(hwloc_bitmap_first(s->plan.assignments[0].numas), 5);
    assert_int_equal(hwloc_bitmap_weight(s->plan.assignments[0].cpus), 1);
    nuioa_plan_free(&s->plan);

    plan_case_option(s, "cores", "keep");
    plan_case_make(s);
    assert_false(s->plan.moved);
    nuioa_plan_free(&s->plan);

    /* the step has nothing near the NIC: nearest of what it has (1 is nearer to 5 than 0) */
    plan_case_option(s, "cores", "auto");
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    hwloc_bitmap_set_range(allowed, 0, 3);
    s->request.allowed_cpus = allowed;
    plan_case_make(s);
    assert_int_equal(hwloc_bitmap_first(s->plan.assignments[0].numas), 1);
    hwloc_bitmap_free(allowed);
    plan_case_free(s);
}

static void assert_untouched(struct plan_case *s, const char *why)
{
    plan_case_make(s);
    assert_false(s->plan.moved);
    if (!strstr(s->plan.reason, why))
        fail_msg("reason: '%s', wanted '%s'", s->plan.reason, why);
    assert_true(s->plan.assignments[0].nic == 0); /* still told */
    assert_int_equal(s->plan.order_count, s->plan.task_count);
    nuioa_plan_free(&s->plan);
}

static void test_limits(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 16, 1);
    weigh(s, descending);

    s->request.bound_by_user = true;
    assert_untouched(s, "--cpu-bind");
    plan_case_option(s, "nuioa", "force");
    plan_case_make(s);
    assert_true(s->plan.moved);
    nuioa_plan_free(&s->plan);
    plan_case_option(s, "nuioa", "on");
    s->options.force = false;
    s->request.bound_by_user = false;

    s->request.sees_gpu = true;
    assert_untouched(s, "GPU");
    s->request.sees_gpu = false;

    s->request.stay = "the batch script is left alone";
    assert_untouched(s, "batch script");
    s->request.stay = NULL;

    plan_case_option(s, "policy", "cpu");
    assert_untouched(s, "policy=cpu");
    plan_case_option(s, "policy", "bandwidth");

    for (unsigned i = 0; i < 16; i++)
        hwloc_bitmap_copy(s->masks[i], s->node.allowed_cpus);
    assert_untouched(s, "share the same CPUs");
    plan_case_free(s);
}

static void test_one_unbound_rank_is_not_squeezed(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 1, 1);
    hwloc_bitmap_copy(s->masks[0], s->node.allowed_cpus);
    assert_untouched(s, "the only rank has all CPUs");
    plan_case_free(s);
}

static void test_no_information_no_change(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 16, 1);
    weigh(s, descending);
    plan_case_option(s, "nic", "^mlx4_0");
    plan_case_make(s);
    assert_false(s->plan.moved);
    assert_int_equal(s->plan.assignments[0].nic, -1);
    assert_int_equal(s->plan.assignments[0].level, NUIOA_NO_LEVEL);
    assert_non_null(strstr(s->plan.reason, "no usable NIC"));
    plan_case_free(s);
}

static void test_slots_of_unequal_size_are_not_exchanged(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 2, 4, 1, 1, NULL });
    machine_nic(&s->node, "mlx5_0", 1);
    plan_case_on(s, 4, 1);
    hwloc_bitmap_set_range(s->masks[0], 0, 1); /* two CPUs on NUMA node 0 */
    hwloc_bitmap_only(s->masks[1], 2);
    hwloc_bitmap_only(s->masks[2], 4);
    hwloc_bitmap_only(s->masks[3], 5);
    weigh(s, descending);
    plan_case_make(s);
    assert_int_equal(hwloc_bitmap_weight(s->plan.assignments[0].cpus), 2);
    assert_false(s->plan.assignments[0].moved);
    assert_int_equal(hwloc_bitmap_first(s->plan.assignments[1].numas), 1);
    plan_case_free(s);
}

static void test_nics_are_shared(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    plan_case_on(s, 8, 1);
    weigh(s, equal);
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
    assert_int_equal(s->plan.rail_count, 2);
    nuioa_plan_free(&s->plan);

    plan_case_option(s, "nic", "^mlx5_1");
    plan_case_make(s);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(s->plan.assignments[i].nic, 0);
    plan_case_free(s);
}

static void test_equally_near_nics_share_by_weight_and_card(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 1, 8, 1, 1, NULL });
    machine_nic(&s->node, "mlx5_0", 0);
    machine_nic(&s->node, "mlx5_1", 0)->card = 0; /* second port of the first card */
    machine_nic(&s->node, "mlx5_2", 0);
    plan_case_on(s, 8, 1);
    weigh(s, equal);
    plan_case_make(s);
    unsigned load[3] = { 0, 0, 0 };
    for (unsigned i = 0; i < 8; i++)
        load[s->plan.assignments[i].nic]++;
    assert_int_equal(load[2], 4);
    assert_int_equal(load[0], 2);
    nuioa_plan_free(&s->plan);

    for (unsigned i = 0; i < 8; i++)
        s->tasks[i].weight = i ? 1 : 7; /* one as heavy as all others together */
    plan_case_make(s);
    for (unsigned i = 1; i < 8; i++)
        assert_int_not_equal(s->node.nics[s->plan.assignments[i].nic].card,
                             s->node.nics[s->plan.assignments[0].nic].card);
    plan_case_free(s);
}

static void test_pack(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    plan_case_on(s, 4, 1);
    plan_case_option(s, "cores", "pack");
    s->request.cpus_per_task = 1; /* rounded up to whole cores */
    plan_case_make(s);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(s->plan.assignments[i].level, 0);
        assert_int_equal(hwloc_bitmap_weight(s->plan.assignments[i].cpus), 2);
    }
    nuioa_plan_free(&s->plan);
    s->request.cpus_per_task = 8; /* 4 x 8 of 16: no room: kept as Slurm made them */
    plan_case_make(s);
    assert_permutation(s);
    assert_int_equal(s->plan.warnings.count, 1);
    plan_case_free(s);
}

static void test_memory(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    char text[64];
    machine_quad(&s->node);
    plan_case_on(s, 8, 1);
    weigh(s, equal);
    hwloc_bitmap_clr(s->node.allowed_numas, 0); /* the step may not use the memory of NUMA node 0 */
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)),
                        "preferred:1");
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[4], text, sizeof(text)),
                        "preferred:2");
    nuioa_plan_free(&s->plan);
    plan_case_option(s, "mem", "interleave");
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)),
                        "interleave:1,3");
    nuioa_plan_free(&s->plan);
    plan_case_option(s, "mem", "nic");
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[6], text, sizeof(text)),
                        "preferred:3");
    s->request.memory_by_user = true;
    nuioa_plan_free(&s->plan);
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[6], text, sizeof(text)), "default");
    plan_case_free(s);
}

static void test_achieved(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 2, 1);
    weigh(s, descending);
    plan_case_make(s);
    hwloc_bitmap_t elsewhere = hwloc_bitmap_alloc();
    hwloc_bitmap_only(elsewhere, 6); /* NUMA node 3, one link from the NIC */
    assert_int_equal(nuioa_plan_achieved(&s->request, &s->plan, 1, elsewhere), 0);
    assert_int_equal(s->plan.assignments[1].level, 1);
    assert_int_equal(s->plan.order[0], 1); /* now nearer than local rank 0 */
    hwloc_bitmap_free(elsewhere);
    plan_case_free(s);
}

static void test_latency_uses_both_directions(void **state)
{
    (void)state;
    /* NIC on 0. From 0, memory 1 is nearer than 2; there and back 2 is. */
    static const uint32_t matrix[9] = { 10, 20, 24, 60, 10, 40, 24, 40, 10 };
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 3, 1, 1, 1, matrix });
    machine_nic(&s->node, "mlx5_0", 0);
    plan_case_on(s, 3, 1);
    weigh(s, descending);
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "0,1,2");
    nuioa_plan_free(&s->plan);
    plan_case_option(s, "policy", "latency");
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "0,2,1");
    plan_case_free(s);
}

static void test_refuses_nonsense(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    plan_case_on(s, 2, 1);
    hwloc_bitmap_zero(s->masks[1]);
    nuioa_options_finish(&s->options);
    assert_int_equal(nuioa_plan_make(&s->request, &s->plan, &s->err), -EINVAL);
    assert_null(s->plan.assignments);
    plan_case_free(s);
}

/* What is promised before there are masks must hold for all of them. */
static void test_a_sure_leader_leads(void **state)
{
    (void)state;
    static const double weights[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    for (unsigned nics = 0; nics < 3; nics++)
        for (unsigned tasks = 1; tasks <= 8; tasks *= 2)
            for (unsigned numas = 1; numas <= 2; numas++)
                for (int hinted = 0; hinted < 2; hinted++) {
                    struct plan_case *s = plan_case_new();
                    machine_build(&s->node, &(struct shape){
                                                .numas = numas,
                                                .cores = 8,
                                                .threads = 1,
                                                .numas_per_package = 1,
                                            });
                    for (unsigned n = 0; n < nics; n++)
                        machine_nic(&s->node, n ? "b" : "a", numas - 1);
                    plan_case_on(s, tasks, 1);
                    if (hinted)
                        plan_case_weigh(s, weights);
                    uint32_t sure = nuioa_plan_sure_leader(&s->node, &s->options, tasks, hinted);
                    assert_int_equal(sure, tasks == 1 || (numas == 1 && !hinted) ? 0 : UINT32_MAX);
                    plan_case_make(s);
                    if (sure != UINT32_MAX)
                        assert_int_equal(s->plan.order[0], sure);
                    plan_case_option(s, "leader", "rank0");
                    plan_case_make(s);
                    assert_int_equal(nuioa_plan_sure_leader(&s->node, &s->options, tasks, hinted),
                                     0);
                    assert_int_equal(s->plan.order[0], 0);
                    plan_case_option(s, "leader", "off");
                    assert_int_equal(nuioa_plan_sure_leader(&s->node, &s->options, tasks, hinted),
                                     UINT32_MAX);
                    plan_case_free(s);
                }
}

/* One NIC's place is known, the other's is not: whose rank is nearer is not sure. */
static void test_no_sure_leader_with_a_lost_nic(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_build(&s->node,
                  &(struct shape){ .numas = 1, .cores = 8, .threads = 1, .numas_per_package = 1 });
    machine_nic(&s->node, "a", 0);
    struct nuioa_nic *nic = machine_nic(&s->node, "b", 0);
    plan_case_on(s, 4, 1);
    assert_int_equal(nuioa_plan_sure_leader(&s->node, &s->options, 4, false), 0);
    free(nic->level);
    nic->level = NULL;
    assert_int_equal(nuioa_plan_sure_leader(&s->node, &s->options, 4, false), UINT32_MAX);
    assert_int_equal(nuioa_plan_sure_leader(&s->node, &s->options, 1, false), 0);
    assert_int_equal(nuioa_plan_sure_leader(&s->node, &s->options, 0, false), UINT32_MAX);
    plan_case_free(s);
}

/* Ranks that all speak to each other, and a clock that has passed already: no plan, whether or not
 * there are pairs; none, and far away, it is as ever. */
static void test_processor_time(void **state)
{
    (void)state;
    struct nuioa_pair pairs[28];
    uint32_t count = 0;
    for (uint32_t second = 1; second < 8; second++)
        for (uint32_t first = 0; first < second; first++)
            pairs[count++] = (struct nuioa_pair){ first, second, 1 + (first * 7 + second * 3) % 5 };
    for (int with_pairs = 0; with_pairs < 2; with_pairs++) {
        struct plan_case *s = plan_case_new();
        machine_hagrid(&s->node, 5);
        plan_case_on(s, 8, 1);
        weigh(s, descending);
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
        plan_case_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hop_order_from_node_5),
        cmocka_unit_test(test_hop_order_from_node_0),
        cmocka_unit_test(test_moves_no_more_than_needed),
        cmocka_unit_test(test_equal_weights_stay),
        cmocka_unit_test(test_block_move),
        cmocka_unit_test(test_blocks_of_unequal_size_stay),
        cmocka_unit_test(test_one_rank_alone),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_one_unbound_rank_is_not_squeezed),
        cmocka_unit_test(test_no_information_no_change),
        cmocka_unit_test(test_slots_of_unequal_size_are_not_exchanged),
        cmocka_unit_test(test_nics_are_shared),
        cmocka_unit_test(test_equally_near_nics_share_by_weight_and_card),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_achieved),
        cmocka_unit_test(test_latency_uses_both_directions),
        cmocka_unit_test(test_refuses_nonsense),
        cmocka_unit_test(test_a_sure_leader_leads),
        cmocka_unit_test(test_no_sure_leader_with_a_lost_nic),
        cmocka_unit_test(test_processor_time),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
