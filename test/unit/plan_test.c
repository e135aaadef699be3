/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan.h"
#include "plan_words.h"
#include "unit.h"

static double last_heavy(unsigned i)
{
    return i == 15 ? 10 : 1;
}

/* Checks that every rank has one of the masks that Slurm gave, and that no two overlap. */
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

TEST(test_hop_order_from_node_5)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=16x1 falling --mem=local");
    plan_case_make(s);
    assert_permutation(s);
    assert_true(s->plan.moved);
    assert_string_equal(s->plan.mapper, "hopsort");
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
    assert_true(s->plan.after.j == s->plan.bound);
}

TEST(test_hop_order_from_node_0)
{
    struct plan_case *s = plan_case_of("hagrid=0 ranks=16x1 falling");
    plan_case_make(s);
    static const unsigned level[8] = { 0, 1, 1, 2, 2, 4, 3, 3 };
    unsigned last = 0;
    for (unsigned i = 0; i < 16; i++) {
        unsigned here = level[hwloc_bitmap_first(s->plan.assignments[i].numas)];
        assert_true(here >= last);
        last = here;
    }
}

/* With one heavy rank, only this rank and the one whose CPUs it gets move. */
TEST(test_moves_no_more_than_needed)
{
    struct plan_case *s = plan_case_of("hagrid=0 ranks=16x1");
    plan_case_weigh_by(s, last_heavy);
    plan_case_make(s);
    unsigned moved = 0;
    for (unsigned i = 0; i < 16; i++)
        moved += s->plan.assignments[i].moved;
    assert_int_equal(hwloc_bitmap_first(s->plan.assignments[15].numas), 0);
    assert_int_equal(moved, 2);
    assert_int_equal(s->plan.order[0], 15);
}

TEST(test_equal_weights_stay)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=16x1 equal");
    plan_case_make(s);
    assert_false(s->plan.moved);
    assert_string_equal(s->plan.mapper, "keep");
    assert_int_equal(s->plan.order[0], 10);
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

TEST(test_block_move)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=16x1 --nuioa=export");
    plan_case_make(s);
    double before = chain_cost(s);
    assert_false(s->plan.moved);

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
}

/* There are two ranks on NUMA node 0 and one on each other: no block of equal size is nearer. */
TEST(test_blocks_of_unequal_size_stay)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=9x1 masks=0;1;2;4;6;8;10;12;14");
    plan_case_make(s);
    assert_false(s->plan.moved);
}

TEST(test_one_rank_alone)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=1x1 asked");
    plan_case_make(s);
    assert_int_equal(hwloc_bitmap_first(s->plan.assignments[0].numas), 5);
    assert_int_equal(hwloc_bitmap_weight(s->plan.assignments[0].cpus), 1);

    plan_case_option(s, "cores", "keep");
    plan_case_make(s);
    assert_false(s->plan.moved);

    /* The step has no CPUs near the NIC. Of its CPUs, those of NUMA node 1 are nearest. */
    plan_case_option(s, "cores", "auto");
    plan_case_step(s, "0-3");
    plan_case_make(s);
    assert_int_equal(hwloc_bitmap_first(s->plan.assignments[0].numas), 1);
}

static void assert_untouched(struct plan_case *s, const char *why)
{
    plan_case_make(s);
    assert_false(s->plan.moved);
    if (!strstr(s->plan.reason, why))
        fail_msg("reason: '%s', wanted '%s'", s->plan.reason, why);
    assert_true(s->plan.assignments[0].nic == 0); /* it still has its NIC */
    assert_int_equal(s->plan.order_count, s->plan.task_count);
}

/* Ranks that stay move with nuioa=force. */
static void assert_forced(struct plan_case *s)
{
    plan_case_option(s, "nuioa", "force");
    plan_case_make(s);
    assert_true(s->plan.moved);
    plan_case_option(s, "nuioa", "on");
    s->options.asked = false;
}

TEST(test_limits)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=16x1 falling");

    s->request.bound_by_user = true;
    assert_untouched(s, "--cpu-bind");
    assert_forced(s);
    s->request.bound_by_user = false;

    s->request.memory_by_user = true; /* --mem-bind=local follows the CPUs */
    plan_case_make(s);
    assert_true(s->plan.moved);
    s->request.memory_by_rank = true;
    assert_untouched(s, "--mem-bind");
    assert_forced(s);
    s->request.memory_by_user = s->request.memory_by_rank = false;

    s->request.sees_gpu = true;
    assert_untouched(s, "GPU");
    s->request.sees_gpu = false;

    s->request.stay = NUIOA_REASON_EXEC_PLACED;
    assert_untouched(s, "the plugin has placed");
    s->request.stay = NUIOA_REASON_NONE;

    plan_case_unbind(s);
    assert_untouched(s, "share the same CPUs");
}

TEST(test_no_information_no_change)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=16x1 falling --nic=^mlx4_0");
    plan_case_make(s);
    assert_false(s->plan.moved);
    assert_int_equal(s->plan.assignments[0].nic, -1);
    assert_int_equal(s->plan.assignments[0].level, NUIOA_NO_LEVEL);
    assert_non_null(strstr(s->plan.reason, "no usable NIC"));
}

TEST(test_slots_of_unequal_size_are_not_exchanged)
{
    struct plan_case *s = plan_case_of("plain=2x4 nic=1 ranks=4x1 masks=0-1;2;4;5 falling");
    plan_case_make(s);
    assert_int_equal(hwloc_bitmap_weight(s->plan.assignments[0].cpus), 2);
    assert_false(s->plan.assignments[0].moved);
    assert_int_equal(hwloc_bitmap_first(s->plan.assignments[1].numas), 1);
}

TEST(test_pack)
{
    struct plan_case *s = plan_case_of("quad ranks=4x1 --cores=pack");
    s->request.cpus_per_task = 1; /* rounded up to whole cores */
    plan_case_make(s);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(s->plan.assignments[i].level, 0);
        assert_int_equal(hwloc_bitmap_weight(s->plan.assignments[i].cpus), 2);
    }
    s->request.cpus_per_task = 8; /* 4 x 8 of 16: no room: kept as Slurm made them */
    plan_case_make(s);
    assert_permutation(s);
    assert_int_equal(s->plan.warnings.count, 1);
}

/* Cores of the step that another step may use are not taken, also not by cores=pack: ranks exchange
 * their masks, and keep the ones that they share. */
TEST(test_pack_beside_others)
{
    for (unsigned t = 0; t < 4; t++) {
        struct plan_case *s = plan_case_of("quad ranks=4x1 --cores=pack");
        s->request.overlaps = t % 2;
        s->request.unconfined = !s->request.overlaps;
        if (t < 2)
            plan_case_weigh_by(s, plan_case_descending);
        for (unsigned i = 0; t >= 2 && i < 4; i++)
            hwloc_bitmap_copy(s->masks[i], s->node.allowed_cpus);
        plan_case_make(s);
        if (t < 2)
            assert_permutation(s);
        else
            assert_int_equal(s->plan.why,
                             t % 2 ? NUIOA_REASON_SHARE_OVERLAP : NUIOA_REASON_SHARE_UNCONFINED);
        assert_int_equal(s->plan.moved, t < 2);
        assert_int_equal(s->plan.warnings.count, 1);
        assert_non_null(strstr(s->plan.warnings.text[0], t % 2 ? "--overlap" : "confine"));
    }
}

static void assert_refused(struct plan_case *s, const char *why)
{
    assert_int_equal(nuioa_plan_make(&s->request, &s->plan, &s->err), -EINVAL);
    assert_string_equal(s->err.text, why);
    assert_null(s->plan.assignments);
}

TEST(test_requests_that_are_wrong)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=2x1");
    s->request.task_count = 0;
    assert_refused(s, "no tasks to place");
    s->request.task_count = 2;
    const struct nuioa_pair beyond[] = { { 0, 1, 1 }, { 0, 2, 1 } }, itself = { 1, 1, 1 };
    s->request.pairs = beyond;
    s->request.pair_count = 2;
    assert_refused(s, "pair 1 is not of two local ranks");
    s->request.pairs = &itself;
    s->request.pair_count = 1;
    assert_refused(s, "pair 0 is not of two local ranks");
    hwloc_bitmap_zero(s->masks[1]);
    assert_refused(s, "rank 1 has no CPUs");
}
