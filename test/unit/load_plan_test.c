/* SPDX-License-Identifier: BSD-3-Clause */

/* The load of several NICs in plans: cases whose answer is known. */
#include <math.h>

#include "plan_words.h"
#include "unit.h"

/* NUMA nodes of four cores; NICs a, b, ... with these rates (Mb/s) at these NUMA nodes. */
static struct plan_case *node_of(unsigned numas, unsigned nics, const uint32_t *rates,
                                 const unsigned *at, unsigned tasks, const double *weights)
{
    struct plan_case *s = plan_case_new();
    machine_plain(&s->node, numas, 4);
    for (unsigned k = 0; k < nics; k++)
        machine_nic(&s->node, (char[]){ (char)('a' + k), '\0' }, at[k])->rate_mbps = rates[k];
    plan_case_on(s, tasks, 4 * numas / tasks);
    plan_case_weigh(s, weights);
    return s;
}

static double load_of(const struct plan_case *s, int nic)
{
    double sum = 0;
    for (unsigned i = 0; i < s->plan.task_count; i++)
        sum += s->plan.assignments[i].nic == nic ? s->plan.assignments[i].weight : 0;
    return sum;
}

/* Four equal rails, four equal ranks: four NICs, wherever the NICs are. */
TEST(test_four_ranks_four_rails)
{
    static const uint32_t rates[] = { 100000, 100000, 100000, 100000 };
    static const double weights[] = { 5, 5, 5, 5 };
    static const unsigned places[][4] = { { 0, 1, 2, 3 }, { 0, 0, 1, 1 }, { 2, 2, 2, 2 } };
    for (unsigned k = 0; k < 3; k++) {
        unsigned numas = k == 1 ? 2 : 4;
        struct plan_case *s = node_of(numas, 4, rates, places[k], 4, weights);
        plan_case_make(s);
        for (int nic = 0; nic < 4; nic++)
            assert_float_equal(load_of(s, nic), 5, 0);
        assert_float_equal(s->plan.after.load.ratio, 1, 1e-9);
        assert_float_equal(s->plan.after.load.cost, 0, 1e-9);
    }
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Returns the weight of the heaviest `count` of eight ranks. */
static double heaviest(const double *weights, unsigned count)
{
    double sorted[8], sum = 0;
    memcpy(sorted, weights, sizeof(sorted));
    qsort(sorted, 8, sizeof(*sorted), ascending);
    for (unsigned i = 0; i < count; i++)
        sum += sorted[7 - i];
    return sum;
}

/* Rails 2:1 carry weight 2:1, within the heaviest rank's weight; on one NUMA node and on two. */
TEST(test_by_rate)
{
    static const uint32_t rates[] = { 200000, 100000 };
    static const unsigned places[][2] = { { 0, 0 }, { 0, 1 }, { 1, 0 } };
    for (unsigned k = 0; k < 3; k++)
        for (unsigned seed = 1; seed <= 20; seed++) {
            double weights[8], sum = 0, most = 0;
            for (unsigned i = 0; i < 8; i++) {
                weights[i] = 1 + seed * (i + 3) * 7 % 23;
                sum += weights[i];
                most = fmax(most, weights[i]);
            }
            struct plan_case *s = node_of(2, 2, rates, places[k], 8, weights);
            plan_case_option(s, "nic", "a,b");
            plan_case_make(s);
            /* The four cores beside the fast NIC may be too few for two thirds of the weight. */
            if (load_of(s, 0) < fmin(heaviest(weights, 4), 2 * sum / 3) - most ||
                load_of(s, 0) > 2 * sum / 3 + most)
                fail_msg("case %u, seed %u: %g of %g", k, seed, load_of(s, 0), sum);
            assert_true(s->plan.bound <= s->plan.after.j * (1 + 1e-9));
            plan_case_free(s);
        }
}

/* All heavy ranks are beside one of two NICs: half of the weight goes to the other one, although
 * each rank is beside a NIC already. A price of 0 leaves them where they are. */
TEST(test_crowded_nic)
{
    static const uint32_t rates[] = { 100000, 100000 };
    static const double weights[8] = { 4, 4, 4, 4 };
    struct plan_case *s = node_of(2, 2, rates, (const unsigned[]){ 0, 1 }, 8, weights);
    plan_case_make(s);
    assert_float_equal(load_of(s, 0), 8, 0);
    assert_float_equal(load_of(s, 1), 8, 0);
    assert_float_equal(s->plan.before.j, 32, 1e-9);
    assert_float_equal(s->plan.after.j, 16, 1e-9);
    assert_float_equal(s->plan.bound, 16, 1e-9);
    assert_float_equal(s->plan.before.load.ratio, 2, 1e-9);
    s->options.load_cost = 0;
    plan_case_make(s);
    assert_false(s->plan.moved);
    assert_float_equal(s->plan.after.load.ratio, 2, 1e-9);
}

/* A rank goes one level farther only if that lowers J: three NUMA nodes in a row, NICs on the first
 * and the last; ranks between them can use both. */
TEST(test_farther_if_it_pays)
{
    static const uint32_t matrix[] = { 10, 16, 22, 16, 10, 16, 22, 16, 10 };
    static const double weights[6] = { 6, 6, 6, 0, 0, 0 };
    for (unsigned k = 0; k < 2; k++) {
        struct plan_case *s = plan_case_new();
        machine_build(&s->node, &(struct shape){ 3, 2, 1, 1, matrix });
        machine_nic(&s->node, "a", 0);
        machine_nic(&s->node, "b", 2);
        plan_case_on(s, 6, 1);
        plan_case_weigh(s, weights);
        s->options.load_cost = k ? 1 : 0;
        plan_case_make(s);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(s->plan.assignments[i].level, 0);
        /* One NIC has two of three equal ranks at the least. */
        assert_float_equal(s->plan.after.load.ratio, 4.0 / 3, 1e-9);
    }
}

/* Without hints. A NIC that is slow is no near NIC where a farther one is faster even from there:
 * ranks share the NICs by rate, and the lowest rank is beside the fast one. */
TEST(test_a_slow_nic)
{
    static const struct {
        uint32_t rates[2];
        unsigned tasks;
        const char *numas, *nics;
    } cases[] = {
        { { 1000, 10000 }, 2, "1,1", "1,1" },
        { { 1000, 10000 }, 8, "1,1,1,1,0,0,0,0", "1,1,1,1,1,1,1,1" },
        { { 10000, 1000 }, 8, "0,0,0,0,1,1,1,1", "0,0,0,0,0,0,0,0" },
        { { 100000, 200000 }, 8, "1,1,1,1,0,0,0,0", "1,1,1,1,0,0,1,0" },
        { { 80000, 100000 }, 8, "0,0,0,0,1,1,1,1", "0,0,0,0,1,1,1,1" },
        { { 0, 100000 }, 8, "0,0,0,0,1,1,1,1", "0,0,0,0,1,1,1,1" },
    };
    for (unsigned k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct plan_case *s =
            node_of(2, 2, cases[k].rates, (const unsigned[]){ 0, 1 }, 8, (const double[8]){ 0 });
        plan_case_on(s, cases[k].tasks, 1);
        s->request.hinted = false;
        s->options.asked = true;
        plan_case_option(s, "nic", "a,b");
        plan_case_make(s);
        assert_string_equal(plan_case_numas(s), cases[k].numas);
        assert_string_equal(plan_case_nics(s), cases[k].nics);
        assert_int_equal(s->plan.assignments[s->plan.order[0]].nic,
                         cases[k].rates[1] > cases[k].rates[0] && cases[k].rates[0] != 80000 &&
                             cases[k].rates[0]);
    }
}

/* A rank that is beside the slow NIC, and uses it, is not the nearest: it does not lead. */
TEST(test_a_slow_leader)
{
    static const uint32_t rates[] = { 100000, 200000 };
    static const double weights[8] = { 0 };
    struct plan_case *s = node_of(2, 2, rates, (const unsigned[]){ 0, 1 }, 8, weights);
    plan_case_option(s, "nic", "a,b");
    plan_case_option(s, "nuioa", "export");
    plan_case_make(s);
    assert_string_equal(plan_case_nics(s), "0,0,1,0,1,1,1,1");
    assert_int_equal(s->plan.order[0], 4);
    assert_int_equal(s->plan.near, 4);
}

/* Unknown rates are equal, and two ports of a card are one resource. */
TEST(test_rates_and_ports)
{
    static const uint32_t rates[] = { 0, 400000 };
    static const double weights[8] = { 4, 4, 4, 4 };
    struct plan_case *s = node_of(2, 2, rates, (const unsigned[]){ 0, 1 }, 8, weights);
    plan_case_option(s, "nic", "a,b");
    plan_case_make(s);
    assert_float_equal(s->plan.after.load.ratio, 1, 1e-9);
    assert_float_equal(load_of(s, 0), 8, 0);
    s->node.nics[1].card = s->node.nics[0].card;
    plan_case_make(s);
    assert_false(s->plan.moved);
    assert_float_equal(s->plan.after.load.ratio, 0, 0);
}

/* A card has the rate of its faster port, and a rank uses several NICs by their rates. */
TEST(test_unlike_ports_and_nics)
{
    struct plan_case *s =
        plan_case_of("plain=1x2 nic=0 nic=0 nic=0 ranks=2x1 weights=1,1 --nic=mlx5_* --rails=1");
    s->node.nics[1].rate_mbps = 25000;
    s->node.nics[1].card = s->node.nics[0].card;
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0;2");
    assert_float_equal(s->plan.after.load.ratio, 1, 1e-9);

    s->node.nics[1].card = 1;
    plan_case_option(s, "rails", "3");
    plan_case_make(s);
    assert_float_equal(s->plan.after.load.ratio, 1, 1e-9);
}

/* The NICs of ranks with GPUs do not follow from their CPUs, so that no bound is known. */
TEST(test_no_bound_with_gpus)
{
    struct plan_case *s =
        plan_case_of("plain=2x2 nic=0 nic=1 gpu=0 gpu=1 ranks=4x1 weights=4,3,2,1");
    plan_case_make(s);
    assert_true(s->plan.bound_known);
    plan_case_gpus(s, "0;1;1;0");
    plan_case_option(s, "nuioa", "force");
    plan_case_option(s, "gpus", "keep");
    plan_case_make(s);
    assert_false(s->plan.bound_known);
}

/* Makes a plan with these masks of one CPU each, and compares J. */
static void check_cost(struct plan_case *s, unsigned tasks, const unsigned *cpus,
                       const double *weights, double cost)
{
    for (unsigned i = 0; i < tasks; i++)
        hwloc_bitmap_only(s->masks[i], cpus[i]);
    plan_case_weigh(s, weights);
    plan_case_make(s);
    assert_float_equal(s->plan.after.j, cost, 1e-9);
    plan_case_free(s);
}

/* The traffic of a rank with a GPU stays on the NIC of the GPU, wherever others go. */
TEST(test_traffic_of_gpus)
{
    struct plan_case *s = plan_case_of("plain=2x8 nic=0 nic=0 nic=1 nic=1 gpu=1 gpu=1 ranks=5x1 "
                                       "gpus=0;1;;1; --gpus=follow");
    for (unsigned g = 0; g < 2; g++)
        for (unsigned n = 0; n < 4; n++)
            machine_path(&s->node, g, n, n < 2 ? NUIOA_PATH_SYS : NUIOA_PATH_PHB);
    check_cost(s, 5, (const unsigned[]){ 5, 3, 7, 2, 12 }, (const double[]){ 5, 1, 1, 2, 5 }, 20.9);
}

/* With rails=K, ranks have NICs beside the nearest, too. */
TEST(test_farther_rails)
{
    struct plan_case *s = plan_case_of("plain=4x8 nic=0 nic=3 ranks=6x1 --rails=2");
    check_cost(s, 6, (const unsigned[]){ 22, 13, 11, 6, 21, 5 },
               (const double[]){ 2, 5, 2, 5, 9, 1 }, 27);
}
