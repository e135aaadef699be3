/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu_machine.h"
#include "unit.h"

/* How many NICs a rank gets, and which, where a node has several. */

TEST(test_rails)
{
    static const struct {
        unsigned nics, tasks;
        const char *rails, *wanted;
    } cases[] = {
        { 4, 1, "auto", "0,1,2,3" },
        { 4, 2, "auto", "0,2;1,3" },
        { 4, 3, "auto", "0,3;1;2" },
        { 4, 4, "auto", "0;1;2;3" },
        { 4, 5, "auto", "0;1;2;3;0" },
        { 4, 1, "1", "0" },
        { 4, 1, "2", "0,1" },
        { 4, 2, "2", "0,2;1,3" },
        { 4, 4, "2", "0,1;1,0;2,3;3,2" },
        { 2, 2, "64", "0,1;1,0" },
        { 1, 2, "3,connected", "0;0" },
        { 3, 1, "connected", "0,1,2" },
    };
    for (unsigned t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        struct plan_case *s = gpu_machine_equal_rails(cases[t].nics, cases[t].tasks);
        plan_case_option(s, "rails", cases[t].rails);
        plan_case_make(s);
        if (strcmp(plan_case_all_nics(s), cases[t].wanted))
            fail_msg("%u NICs, %u ranks, rails=%s: %s, not %s", cases[t].nics, cases[t].tasks,
                     cases[t].rails, plan_case_all_nics(s), cases[t].wanted);
    }
}

/* rails=auto adds no NIC that is farther away; a number does. */
TEST(test_rails_farther_away)
{
    struct plan_case *s = gpu_machine(&(struct gpu_shape){ "", 2, 0, 4, 1, NUIOA_PATH_PIX }, 1);
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1");
    plan_case_option(s, "rails", "3");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1,2");
}

/* Rails that are left go to GPUs too, but those of other GPUs are left to them. */
TEST(test_rails_of_gpus)
{
    static const struct {
        unsigned shape;
        const char *gpus, *rails, *wanted;
    } cases[] = {
        { 0, "5", "auto", "5" },
        { 1, "5", "auto", "5" }, /* GPU 4 has the same two NICs */
        { 1, "4,5", "auto", "4,5" },
        { 1, "5", "2", "5,4" },
        { 4, "5", "auto", "20,21,22,23" },
        { 4, "5;0", "auto", "20,21,22,23;0,1,2,3" },
        { 0, "6,2", "1", "6" }, /* never more than was asked for */
        { 0, "6,2", "3", "6,2,0" },
        { 1, "0,1,4", "2", "0,4" }, /* fewer than GPUs: none is farther away than it must be */
        { 1, "0,1,2,3,4", "3", "0,4,2" },
        { 0, "0,1,2,3", "2", "0,1" },
    };
    for (unsigned t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        unsigned tasks = 1;
        for (const char *c = cases[t].gpus; *c; c++)
            tasks += *c == ';';
        struct plan_case *s = gpu_machine(&gpu_shapes[cases[t].shape], tasks);
        plan_case_gpus(s, cases[t].gpus);
        plan_case_option(s, "rails", cases[t].rails);
        plan_case_make(s);
        if (strcmp(plan_case_all_nics(s), cases[t].wanted))
            fail_msg("%s, GPUs %s, rails=%s: %s, not %s", gpu_shapes[cases[t].shape].name,
                     cases[t].gpus, cases[t].rails, plan_case_all_nics(s), cases[t].wanted);
    }
}

/* A rank with fewer rails than GPUs loads only the NICs that it has. */
TEST(test_fewer_rails_than_gpus)
{
    static const double weights[3] = { 100, 1, 1 };
    struct plan_case *s = gpu_machine(&gpu_shapes[6], 3);
    plan_case_gpus(s, "0,1;2;3");
    plan_case_weigh(s, weights);
    plan_case_option(s, "rails", "1");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0;2;1");
}

/* With fewer rails than GPUs, a GPU that is far from every NIC needs none of its own. */
TEST(test_a_gpu_far_from_all)
{
    struct plan_case *s = gpu_machine(&(struct gpu_shape){ "", 2, 3, 3, 1, NUIOA_PATH_SYS }, 1);
    for (unsigned g = 0; g < 3; g++)
        for (unsigned n = 0; n < 3; n++)
            machine_path(&s->node, g, n, g != 1 && g == n ? NUIOA_PATH_PIX : NUIOA_PATH_SYS);
    plan_case_gpus(s, "0,1,2");
    plan_case_option(s, "rails", "2");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,2");
}

/* Each GPU has a part of its rank's weight: here two of them share a NIC, and ranks do not. */
TEST(test_weight_of_several_gpus)
{
    struct plan_case *s = gpu_machine(&gpu_shapes[6], 3);
    plan_case_gpus(s, "0,1;2;3");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "1;2;0");
}

/* Two cards with two ports: the second port goes to the rank that uses the card. */
TEST(test_ports_of_cards)
{
    static const double weights[2] = { 1, 2 };
    struct plan_case *s = gpu_machine_equal_rails(4, 2);
    s->node.nics[1].card = s->node.nics[0].card;
    s->node.nics[3].card = s->node.nics[2].card;
    plan_case_weigh(s, weights);
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "2,3;0,1");
}

/* The second port of a card is left to a GPU which no rank has and which is as near. */
TEST(test_port_of_a_free_gpu)
{
    struct plan_case *s = gpu_machine(&(struct gpu_shape){ "", 1, 2, 2, 1, NUIOA_PATH_PIX }, 1);
    s->node.nics[1].card = s->node.nics[0].card;
    for (unsigned gpu = 0; gpu < 2; gpu++) {
        plan_case_gpus(s, gpu ? "1" : "0");
        plan_case_make(s);
        assert_string_equal(plan_case_all_nics(s), gpu ? "1" : "0");
    }
    s->node.gpu_count = 1;
    plan_case_gpus(s, "0");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1");
    s->node.gpu_count = 2;
}

/* NICs that are left go to heavy ranks. */
TEST(test_rails_by_weight)
{
    static const double weights[2] = { 10, 1 };
    struct plan_case *s = gpu_machine_equal_rails(4, 2);
    plan_case_weigh(s, weights);
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,2,3;1");
}

/* NICs of 400, 100 and 25 Gb/s, all as near, have ranks by their rates. */
TEST(test_unlike_rates)
{
    static const struct {
        unsigned tasks;
        const char *rails, *wanted;
    } cases[] = {
        { 1, "auto", "0,1,2" },
        { 5, "1", "0;0;0;0;1" },
        { 2, "2", "0,1;0,1" },
        { 21, "1", "0;0;0;0;1;0;0;0;0;1;0;0;0;0;1;0;0;0;0;1;2" },
    };
    for (unsigned t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        struct plan_case *s = gpu_machine_equal_rails(3, cases[t].tasks);
        for (unsigned n = 0; n < 3; n++)
            s->node.nics[n].rate_mbps = 400000 >> 2 * n;
        plan_case_option(s, "nic", "mlx5_*");
        plan_case_option(s, "rails", cases[t].rails);
        plan_case_make(s);
        assert_string_equal(plan_case_all_nics(s), cases[t].wanted);
    }
}
