/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report.h"
#include "output/report_explain.h"
#include "plan/plan.h"
#include "plan_words.h"
#include "unit.h"

/* Two NUMA nodes of two cores, the NIC on the second; ranks 0,1 and 2,3 are where Slurm puts
 * them. */
static struct plan_case *small(const struct nuioa_pair *pairs, uint32_t count,
                               const double *weights)
{
    struct plan_case *s = plan_case_of("plain=2x2 nic=1 ranks=4x1");
    s->request.pairs = pairs;
    s->request.pair_count = count;
    plan_case_weigh(s, weights);
    plan_case_make(s);
    return s;
}

static const char *why(const struct plan_case *s, uint32_t local)
{
    static char text[64];
    return nuioa_report_why(&s->plan, local, text, sizeof(text));
}

/* Rank 0 has most traffic with rank 3, which is heavy, so rank 0 moves to its NUMA node. */
TEST(test_terms)
{
    static const struct nuioa_pair pairs[] = { { 0, 1, 10 }, { 0, 3, 100 }, { 1, 2, 30 } };
    static const double weights[] = { 0, 0, 0, 50 };
    struct plan_case *s = small(pairs, 3, weights);
    assert_string_equal(plan_case_numas(s), "1,0,0,1");
    assert_float_equal(s->plan.before.nic, 50, 1e-9);
    /* each NUMA node has one L3: a byte costs 0.8 inside it and 2 across */
    assert_float_equal(s->plan.before.neighbours, 10 * 0.8 + 100 * 2 + 30 * 2, 1e-9);
    assert_float_equal(s->plan.after.neighbours, 10 * 2 + 100 * 0.8 + 30 * 0.8, 1e-9);

    const struct nuioa_rank_costs *a = &s->plan.assignments[0].costs;
    assert_float_equal(a->before.neighbours, (8 + 200) / 2.0, 1e-9);
    assert_float_equal(a->after.neighbours, (20 + 80) / 2.0, 1e-9);
    assert_int_equal(a->partner_count, 2);
    assert_int_equal(a->partners[0], 3);
    assert_int_equal(a->partners[1], 1);
    assert_float_equal(a->local, 110, 1e-9);
    assert_float_equal(a->beside, 100, 1e-9);
    assert_int_equal(a->level_before, 1);
    assert_int_equal(a->heavier, 1);
    assert_int_equal(a->gave_way, 2);
    assert_string_equal(why(s, 0), "nearer NIC and neighbours");
    assert_string_equal(why(s, 1), "not moved");
    assert_string_equal(why(s, 2), "nearer its neighbours");
    assert_string_equal(why(s, 3), "already beside its NIC");
    assert_int_equal(s->plan.assignments[3].costs.gave_way, -1);
    assert_int_equal(s->plan.assignments[3].costs.heavier, 0);
}

TEST(test_weights_alone)
{
    static const double weights[] = { 4, 1, 2, 1 };
    struct plan_case *s = small(NULL, 0, weights);
    assert_string_equal(plan_case_numas(s), "1,0,1,0");
    assert_string_equal(why(s, 0), "nearer its NIC");
    assert_string_equal(why(s, 3), "gave way to rank 0");
    assert_int_equal(s->plan.assignments[1].costs.heavier, 2);
    assert_int_equal(s->plan.assignments[3].costs.heavier, 2);
    assert_float_equal(s->plan.assignments[0].costs.before.nic, 4 * 1.3, 1e-9);
    assert_float_equal(s->plan.assignments[0].costs.after.nic, 4, 1e-9);
}

/* Three of many partners are kept: those with most traffic, and the lower of equal ones. */
TEST(test_partners)
{
    static const struct nuioa_pair pairs[] = { { 0, 9, 5 }, { 0, 4, 7 }, { 0, 2, 5 }, { 0, 3, 1 },
                                               { 0, 8, 9 }, { 0, 1, 0 }, { 0, 7, 5 } };
    struct plan_case *s = plan_case_of("hagrid=5 ranks=16x1");
    s->request.pairs = pairs;
    s->request.pair_count = 7;
    s->request.hinted = true;
    plan_case_make(s);
    const struct nuioa_rank_costs *a = &s->plan.assignments[0].costs;
    assert_int_equal(a->partner_count, 3);
    assert_int_equal(a->partners[0], 8);
    assert_int_equal(a->partners[1], 4);
    assert_int_equal(a->partners[2], 2);
    assert_int_equal(s->plan.assignments[1].costs.partner_count, 0);
}

/* plan_case_make checks that the costs of the ranks add up to J of the mappers. */
TEST(test_sums)
{
    uint32_t seed = 3;
    for (int round = 0; round < 20; round++) {
        struct nuioa_pair pairs[120];
        double weights[16];
        uint32_t count = 0;
        struct plan_case *s = plan_case_new();
        machine_hagrid(&s->node, (unsigned)round % 8);
        plan_case_on(s, round % 2 ? 16 : 5, round % 2 ? 1 : 3); /* three CPUs span two NUMA nodes */
        uint32_t n = s->request.task_count;
        for (uint32_t i = 0; i < n; i++) {
            weights[i] = (seed = seed * 1664525 + 1013904223) >> 24;
            for (uint32_t k = i + 1; k < n; k++)
                if ((seed = seed * 1664525 + 1013904223) >> 30 == 0)
                    pairs[count++] = (struct nuioa_pair){ i, k, seed >> 20 & 255 };
        }
        s->request.pairs = pairs;
        s->request.pair_count = count;
        plan_case_weigh(s, weights);
        if (round % 3 == 0)
            plan_case_option(s, "policy", "latency");
        plan_case_make(s);
        plan_case_free(s);
    }
}
