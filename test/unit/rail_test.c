/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report.h"
#include "output/report_explain.h"
#include "plan_words.h"
#include "unit.h"

/* Four NUMA nodes of four cores with a NIC each, in one fabric; `tasks` ranks of 16 / tasks
 * cores. */
static struct plan_case *four_rails(unsigned tasks, const double *weights)
{
    struct plan_case *s =
        plan_case_of("plain=4x4 nic=0 nic=1 nic=2 nic=3 ranks=%ux%u", tasks, 16 / tasks);
    plan_case_weigh(s, weights);
    return s;
}

static void loads(const struct plan_case *s, double *load)
{
    memset(load, 0, s->node.nic_count * sizeof(*load));
    for (uint32_t i = 0; i < s->plan.task_count; i++)
        load[s->plan.assignments[i].nic] += s->plan.assignments[i].weight;
}

TEST(test_heavy_ranks_use_all_rails)
{
    static const double weights[16] = { 1, 1, 1, 1 };
    double load[4];
    struct plan_case *s = four_rails(16, weights);
    plan_case_make(s);
    loads(s, load);
    for (unsigned n = 0; n < 4; n++)
        assert_float_equal(load[n], 1, 0);
    assert_string_equal(s->plan.mapper, "rails");
    assert_non_null(strstr(s->plan.reason, "share the NICs"));
    /* One NIC had four times its share of the weight, which is 4. */
    assert_float_equal(s->plan.before.j, 4 + 12, 1e-9);
    assert_float_equal(s->plan.after.j, 4, 1e-9);
    assert_float_equal(s->plan.before.load.ratio, 4, 1e-9);
    assert_float_equal(s->plan.after.load.ratio, 1, 1e-9);
    /* three ranks leave, and three take their CPUs */
    unsigned moved = 0;
    for (unsigned i = 0; i < 16; i++)
        moved += s->plan.assignments[i].moved;
    assert_int_equal(moved, 6);
    assert_int_equal(s->plan.rail_leader_count, 4);
    char why[64];
    for (unsigned i = 0; i < 16; i++)
        if (s->plan.assignments[i].moved)
            assert_non_null(strstr(nuioa_report_why(&s->plan, i, why, sizeof(why)),
                                   i < 4 ? "share the load" : "gave way to rank"));
}

TEST(test_by_weight)
{
    static const double weights[8] = { 8, 7, 6, 5, 4, 3, 2, 1 };
    double load[4];
    struct plan_case *s = four_rails(8, weights);
    plan_case_make(s);
    loads(s, load);
    for (unsigned n = 0; n < 4; n++)
        assert_float_equal(load[n], 9, 0);
}

TEST(test_nobody_moves_for_nothing)
{
    static const double equal[8] = { 5, 5, 5, 5, 5, 5, 5, 5 };
    static const double one[8] = { 7 };
    static const double *const all[] = { equal, one };
    for (unsigned k = 0; k < 2; k++) {
        struct plan_case *s = four_rails(8, all[k]);
        plan_case_make(s);
        assert_false(s->plan.moved);
        assert_string_equal(s->plan.mapper, "keep");
    }
}

/* NICs of 100 and 25 Gb/s, both asked for: the fast one gets four times as much, as far as ranks
 * go. */
TEST(test_by_rate)
{
    double load[2];
    struct plan_case *s =
        plan_case_of("plain=2x5 nic=0 nic=1 ranks=10x1 weights=2,2,2,2,2 --nic=mlx5_0,mlx5_1");
    s->node.nics[0].rate_mbps = 25000;
    plan_case_make(s);
    loads(s, load);
    assert_float_equal(load[0], 2, 0);
    assert_float_equal(load[1], 8, 0);
}

/* Two ports of one card share its bus, so an exchange between them gains nothing. */
TEST(test_one_card)
{
    struct plan_case *s = plan_case_of("plain=2x4 nic=0 nic=1 ranks=8x1 weights=9,9");
    s->node.nics[1].card = s->node.nics[0].card;
    plan_case_make(s);
    assert_false(s->plan.moved);
}

/* Ranks with mutual traffic are not separated for a rail, because J would rise. A pair may move. */
TEST(test_neighbours_go_before)
{
    static const double weights[8] = { 9, 9 };
    static const struct nuioa_pair tied[] = { { 0, 1, 50 } };
    struct plan_case *s = four_rails(8, weights);
    s->request.pairs = tied;
    s->request.pair_count = 1;
    plan_case_make(s);
    assert_true(hwloc_bitmap_isequal(s->plan.assignments[0].numas, s->plan.assignments[1].numas));
    s->request.pair_count = 0;
    plan_case_make(s);
    assert_false(hwloc_bitmap_isequal(s->plan.assignments[0].numas, s->plan.assignments[1].numas));
    /* where J does not rise, ranks of a profile share the NICs too */
    static const struct nuioa_pair loose[] = { { 2, 3, 1 } };
    s->request.pairs = loose;
    s->request.pair_count = 1;
    plan_case_make(s);
    assert_false(hwloc_bitmap_isequal(s->plan.assignments[0].numas, s->plan.assignments[1].numas));
}

/* Two NUMA nodes of eight ranks, groups of `size` with mutual traffic; ranks 0 and 2 * size -
 * 1, which begin on one node, carry the traffic. */
static struct plan_case *two_groups(unsigned size, struct nuioa_pair *pairs)
{
    double weights[16] = { 0 };
    weights[0] = weights[size < 8 ? 2 * size - 1 : 7] = 9;
    struct plan_case *s = plan_case_of("plain=2x8 nic=0 nic=1 ranks=16x1");
    plan_case_weigh(s, weights);
    s->request.pairs = pairs;
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t k = i + 1; k < 16 && k / size == i / size; k++)
            pairs[s->request.pair_count++] = (struct nuioa_pair){ i, k, 50 };
    return s;
}

/* The partners of a heavy rank move with it to another rail if an exchange leaves no rank farther
 * from its neighbours. */
TEST(test_neighbours_go_along)
{
    for (unsigned size = 2; size <= 4; size *= 2) {
        struct nuioa_pair pairs[64];
        struct plan_case *s = two_groups(size, pairs);
        plan_case_make(s);
        const struct nuioa_assignment *assignments = s->plan.assignments;
        assert_int_not_equal(assignments[0].nic, assignments[2 * size - 1].nic);
        for (uint32_t k = 0; k < s->request.pair_count; k++)
            assert_true(hwloc_bitmap_isequal(assignments[pairs[k].first].numas,
                                             assignments[pairs[k].second].numas));
        assert_float_equal(s->plan.before.j - s->plan.after.j, 18, 1e-9);
        assert_float_equal(s->plan.before.neighbours, s->plan.after.neighbours, 1e-9);
    }
    struct nuioa_pair pairs[64];
    struct plan_case *s = two_groups(8, pairs);
    plan_case_make(s);
    assert_false(s->plan.moved);
}

/* A heavy rank never moves farther from the NICs to use another rail. */
TEST(test_levels_go_before)
{
    static const double weights[8] = { 0, 0, 0, 0, 9, 9, 6, 6 };
    struct plan_case *s = plan_case_of("quad ranks=8x2");
    plan_case_weigh(s, weights);
    plan_case_make(s);
    double load[2];
    loads(s, load);
    assert_float_equal(load[0], 15, 0);
    assert_float_equal(load[1], 15, 0);
    for (unsigned i = 4; i < 8; i++)
        assert_int_equal(s->plan.assignments[i].level, 0);
    /* There are three ranks and two rails. Between the rails the third rank could use both, but it
     * would be one level farther. */
    static const double three[8] = { 0, 0, 0, 0, 9, 9, 9, 0 };
    plan_case_weigh(s, three);
    plan_case_make(s);
    for (unsigned i = 4; i < 7; i++)
        assert_int_equal(s->plan.assignments[i].level, 0);
}

/* InfiniBand of 100 Gb/s on one NUMA node, Ethernet of `mbps` on the other; the last rank is
 * heavy. */
static struct plan_case *two_kinds(uint32_t mbps)
{
    static const double weights[4] = { 0, 0, 0, 9 };
    struct plan_case *s = plan_case_new();
    machine_plain(&s->node, 2, 2);
    machine_nic(&s->node, "ib", 0);
    struct nuioa_nic *eth = machine_nic(&s->node, "eth", 1);
    eth->kind = NUIOA_NIC_ETHERNET;
    eth->rate_mbps = mbps;
    nuioa_nic_judge(&s->node);
    plan_case_on(s, 4, 1);
    plan_case_weigh(s, weights);
    return s;
}

/* With a fast and a slow fabric, bandwidth chooses by rate and latency by kernel bypass; never
 * both. */
TEST(test_two_kinds)
{
    static const struct {
        uint32_t mbps;
        const char *policy, *nic;
        int numa; /* of the heavy rank */
    } cases[] = {
        { 1000, "bandwidth", "auto", 0 },     { 1000, "latency", "auto", 0 },
        { 25000, "bandwidth", "auto", 0 },    { 400000, "bandwidth", "auto", 1 },
        { 400000, "latency", "auto", 0 },     { 400000, "latency", "ib,eth", 0 },
        { 400000, "bandwidth", "ib,eth", 1 }, { 25000, "bandwidth", "ib,eth", 0 },
        { 1000, "bandwidth", "eth", 1 },      { 0, "bandwidth", "auto", 0 },
    };
    for (size_t t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        struct plan_case *s = two_kinds(cases[t].mbps);
        plan_case_option(s, "policy", cases[t].policy);
        plan_case_option(s, "nic", cases[t].nic);
        plan_case_make(s);
        int numa = hwloc_bitmap_first(s->plan.assignments[3].numas);
        if (numa != cases[t].numa)
            fail_msg("case %zu: the heavy rank is on NUMA node %d", t, numa);
        for (unsigned i = 1; i < 4; i++)
            assert_int_equal(s->plan.assignments[i].nic, s->plan.assignments[0].nic);
    }
}

/* Ranks of one job never use two fabrics, even if `nic` selects both; a warning names the rest. */
TEST(test_fabrics_are_not_mixed)
{
    static const double weights[8] = { 9, 9 };
    struct plan_case *s = four_rails(8, weights);
    for (unsigned n = 0; n < 4; n++)
        nuioa_copy(s->node.nics[n].fabric, sizeof(s->node.nics[n].fabric), n < 2 ? "x" : "y");
    s->node.nics[3].rate_mbps = 200000;
    plan_case_option(s, "nic", "mlx5_*");
    plan_case_make(s);
    for (unsigned i = 0; i < 8; i++)
        assert_true(s->plan.assignments[i].nic >= 2);
    assert_int_equal(s->plan.warnings.count, 2);
    assert_non_null(
        strstr(s->plan.warnings.text[0], "mlx5_0:1 ignored: it is not on the fabric of mlx5_3"));
}

/* A NIC whose place is unknown is left out if that of others is known. */
TEST(test_unknown_place)
{
    static const double weights[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    struct plan_case *s = four_rails(8, weights);
    free(s->node.nics[0].level);
    s->node.nics[0].level = NULL;
    hwloc_bitmap_zero(s->node.nics[0].numas);
    hwloc_bitmap_zero(s->node.nics[0].cpus);
    plan_case_make(s);
    for (unsigned i = 0; i < 8; i++)
        assert_true(s->plan.assignments[i].nic > 0);
    assert_int_equal(s->plan.warnings.count, 1);
    assert_non_null(strstr(s->plan.warnings.text[0], "mlx5_0:1 ignored: its NUMA node is unknown"));
}

/* Two NICs of one NUMA node, each local to half of its cores: each rank has that of its half. */
TEST(test_halves_of_a_numa_node)
{
    struct plan_case *s = plan_case_of("plain=1x4 nic=0 nic=0 ranks=4x1");
    hwloc_bitmap_list_sscanf(s->node.nics[0].cpus, "2-3");
    hwloc_bitmap_list_sscanf(s->node.nics[1].cpus, "0-1");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "1;1;0;0");
}

/* A rank that spans NUMA nodes uses the NICs beside some of its CPUs, not others as far from the
 * rest. */
TEST(test_beside_some_cpus)
{
    struct plan_case *s = four_rails(2, (const double[]){ 1, 1 });
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1;2,3");

    s = four_rails(4, (const double[]){ 1, 1, 1, 1 }); /* whatever their order is */
    for (unsigned i = 0; i < 4; i++) {
        unsigned first = i < 2 ? 2 : 0;
        hwloc_bitmap_or(s->masks[i], s->node.numas[first].cpus, s->node.numas[first + 1].cpus);
    }
    plan_case_option(s, "nuioa", "export");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "2;3;0;1");
}

/* A rank alone with CPUs beside each NIC, and all of them beside none, is told none, and why. */
TEST(test_no_own_nic)
{
    const uint32_t said = 1u << NUIOA_ADVICE_NO_OWN_NIC;
    struct plan_case *s = four_rails(1, (const double[]){ 1 });
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].nic, -1);
    assert_int_equal(s->plan.assignments[0].nic_count, 0);
    assert_int_equal(s->plan.assignments[0].level, NUIOA_NO_LEVEL);
    assert_int_equal(s->plan.advice & said, said);
    assert_int_equal(s->plan.rail_leader_count, 0);

    plan_case_option(s, "rails", "4"); /* the user wants that many */
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1,2,3");
    plan_case_option(s, "rails", "auto");

    plan_case_option(s, "nic", "mlx5_1"); /* there is no other */
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "1");
    plan_case_option(s, "nic", "auto");

    hwloc_bitmap_or(s->masks[0], s->node.numas[2].cpus, s->node.numas[3].cpus);
    plan_case_option(s, "cores", "keep");
    plan_case_make(s); /* two are nearer than the others */
    assert_string_equal(plan_case_all_nics(s), "2,0,1,3");
    assert_int_equal(s->plan.advice & said, 0);
    plan_case_option(s, "nic", "mlx5_2,mlx5_3");
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].nic_count, 0);
    plan_case_option(s, "nic", "mlx5_0,mlx5_1"); /* both are as far */
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1");
}

/* One rank with all cores uses all rails, so its memory is spread over their NUMA nodes. */
TEST(test_memory_of_several_rails)
{
    static const double weights[2] = { 1, 1 };
    char text[64];
    struct plan_case *s = four_rails(1, weights);
    plan_case_option(s, "mem", "nic");
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)),
                        "interleave:0-3");
    plan_case_option(s, "nic", "mlx5_1");
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)),
                        "preferred:1");
    s->request.memory_by_user = true;
    plan_case_option(s, "nic", "auto");
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)), "kept");

    /* Beside one of the rails it uses that one alone, unless more are asked for. */
    s = four_rails(1, weights);
    plan_case_option(s, "mem", "nic");
    hwloc_bitmap_copy(s->masks[0], s->node.numas[2].cpus);
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "2");
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)),
                        "preferred:2");
    plan_case_option(s, "rails", "2");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "2,0");
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)),
                        "interleave:0,2");

    s = four_rails(2, weights);
    plan_case_option(s, "mem", "nic");
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].memory, NUIOA_MEMORY_PREFERRED);
    plan_case_option(s, "mem", "interleave");
    plan_case_make(s);
    assert_string_equal(nuioa_memory_text(&s->plan.assignments[0], text, sizeof(text)),
                        "interleave:0-3");
}
