/* SPDX-License-Identifier: BSD-3-Clause */

/* Free cores of the step as places for ranks: each condition by itself. test/topologies/drawn.t
 * judges the plans of random machines. */

#include "plan_words.h"
#include "unit.h"

/* On "quad", NUMA node n has cores 2n and 2n+1, with CPUs 2n, 2n+8 and 2n+1, 2n+9. NICs are on 1
 * and 3. */

/* Makes the plan, and frees the case. */
static void expect(struct plan_case *s, const char *cpus, enum nuioa_reason why)
{
    plan_case_make(s);
    assert_string_equal(plan_case_cpus(s), cpus);
    assert_string_equal(s->plan.reason, nuioa_reason_text(why));
    plan_case_free(s);
}

/* --- no hints --------------------------------------------------------------------------------- */

TEST(test_block)
{
    expect(plan_case_of("hagrid=5 bound=0;1"), "10;11", NUIOA_REASON_BLOCK_MOVED);
    expect(plan_case_of("hagrid=5 bound=0"), "10", NUIOA_REASON_ALONE_MOVED);
    /* A second block follows, to where neighbours are as near and the NIC is no farther. */
    struct plan_case *s = plan_case_of("hagrid=5 bound=0;2");
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "5,3");
}

/* As many cores, as many hardware threads in each, and the same ranks on a core. */
TEST(test_threads)
{
    expect(plan_case_of("quad bound=0;8"), "2;10", NUIOA_REASON_BLOCK_MOVED);
    expect(plan_case_of("quad bound=0;1"), "2;3", NUIOA_REASON_BLOCK_MOVED);
    expect(plan_case_of("quad bound=0,8;1,9"), "2,10;3,11", NUIOA_REASON_BLOCK_MOVED);
    expect(plan_case_of("quad bound=0,8;1"), "2,10;3", NUIOA_REASON_BLOCK_MOVED);
    expect(plan_case_of("quad bound=8"), "2", NUIOA_REASON_ALONE_MOVED);
}

/* Who shares an L3 or an L2 still does, and nobody else. */
TEST(test_caches)
{
    static const struct {
        uint32_t near[4]; /* the L3 of the cores of the NIC's NUMA node */
        uint32_t far[4];  /* and of the ranks' */
        const char *from, *to;
    } cases[] = {
        { { 1, 1, 2, 2 }, { 3, 3, 4, 4 }, "4;6", "0;2" },
        { { 1, 1, 2, 2 }, { 3, 3, 4, 4 }, "5;7", "0;2" },
        { { 1, 1, 2, 2 }, { 3, 3, 4, 4 }, "4;5", "0;1" },
        { { 1, 2, 2, 2 }, { 3, 3, 4, 4 }, "4;5", "1;2" },
        { { 1, 1, 1, 1 }, { 3, 3, 4, 4 }, "4;6", NULL },
        { { 1, 2, 5, 6 }, { 3, 3, 4, 4 }, "6;7", NULL },
        { { 1, 2, 2, 2 }, { 3, 3, 3, 4 }, "4;5;6;7", "1;2;3;0" },
    };
    for (size_t k = 0; k < 2 * sizeof(cases) / sizeof(*cases); k++) {
        struct plan_case *s = plan_case_new();
        machine_plain(&s->node, 2, 4);
        machine_nic(&s->node, "mlx5_0", 0);
        for (unsigned i = 0; i < 4; i++)
            if (k % 2) {
                s->node.pus[i].l3 = cases[k / 2].near[i];
                s->node.pus[4 + i].l3 = cases[k / 2].far[i];
            } else {
                s->node.pus[i].l2 = cases[k / 2].near[i];
                s->node.pus[4 + i].l2 = cases[k / 2].far[i];
            }
        plan_case_set(s, "bound=%s", cases[k / 2].from);
        bool moves = cases[k / 2].to;
        expect(s, moves ? cases[k / 2].to : cases[k / 2].from,
               moves ? NUIOA_REASON_BLOCK_MOVED : NUIOA_REASON_BLOCK_HINT);
    }
}

/* A block needs a NUMA node without ranks, and room for all of it. */
TEST(test_room)
{
    /* The block that gives way to the first goes to free cores near the NIC, not far from it. */
    expect(plan_case_of("hagrid=5 bound=0;1;10"), "10;11;6", NUIOA_REASON_BLOCK_MOVED);
    struct plan_case *s = plan_case_of("hagrid=5 bound=0;1;2");
    plan_case_step(s, "0-9,11-15"); /* one core of the NIC's NUMA node */
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "3,3,1");
}

/* Blocks of unlike size change places if free cores make up for the difference. */
TEST(test_unlike_blocks)
{
    static const struct {
        const char *masks, *cpus;
    } cases[] = {
        { "0;4;1", "4;0;5" },                 /* srun -n3 on 2 x 4 cores */
        { "0;4;1;5;2", "4;0;5;1;6" },         /* -n5 */
        { "0;4;1;5;2;6;3", "4;0;5;1;6;2;7" }, /* -n7 */
        { "0-1;4-5;2-3", "4-5;0-1;6-7" },     /* -n3 -c2 */
        { "0;4;1;5;2;6", "4;0;5;1;6;2" },     /* as ever */
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct plan_case *s = plan_case_of("plain=2x4 nic=1 bound=%s", cases[k].masks);
        expect(s, cases[k].cpus, NUIOA_REASON_BLOCK_MOVED);
    }
    /* Half of a core that another rank leaves is not free. */
    for (unsigned cores = 3; cores < 5; cores++) {
        struct plan_case *s = plan_case_new();
        machine_build(&s->node, &(struct shape){ 2, cores, 2, 1, NULL });
        machine_nic(&s->node, "mlx5_0", 1);
        plan_case_set(s, "bound=%s", cores == 3 ? "0,6;3;1,7;2,8" : "0,8;4;1,9;2,10");
        plan_case_make(s);
        assert_string_equal(plan_case_numas(s), cores == 3 ? "0,1,0,0" : "1,0,1,1");
    }
}

/* Ranks that have the same NUMA nodes are a block, too: one rank for each socket, with sub-NUMA
 * clusters. */
TEST(test_wide_blocks)
{
    static const uint32_t sockets[] = { 10, 12, 20, 20, 12, 10, 20, 20,
                                        20, 20, 10, 12, 20, 20, 12, 10 };
    for (unsigned nic = 0; nic < 4; nic++) {
        struct plan_case *s = plan_case_new();
        machine_build(&s->node, &(struct shape){ 4, 2, 1, 2, sockets });
        machine_nic(&s->node, "mlx5_0", nic);
        plan_case_set(s, "bound=0-3;4-7");
        if (nic < 2)
            expect(s, "0-3;4-7", NUIOA_REASON_BLOCK_SPREAD);
        else
            expect(s, "4-7;0-3", NUIOA_REASON_BLOCK_MOVED);
    }
    expect(plan_case_of("hagrid=5 bound=0-3;8-11"), "8-11;0-3", NUIOA_REASON_BLOCK_MOVED);
    /* Some of their NUMA nodes are the same. */
    expect(plan_case_of("hagrid=5 bound=0-2;3,6-7"), "3,6-7;0-2", NUIOA_REASON_BLOCK_MOVED);
    /* srun -n3 --cpu-bind=sockets: two ranks share the first one. */
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 4, 2, 1, 2, sockets });
    machine_nic(&s->node, "mlx5_0", 3);
    plan_case_set(s, "bound=0-3;4-7;0-3");
    expect(s, "4-7;0-3;4-7", NUIOA_REASON_BLOCK_MOVED);
}

/* Where each rank is a block they take no core of each other, and none that another one keeps. */
TEST(test_split_blocks)
{
    static const struct {
        unsigned numas, cores;
        const char *masks;
    } cases[] = {
        { 3, 8, "0,1;2,3;7,8,9,10;11;12" }, /* two and four cores, and three with one */
        { 2, 8, "0,1;2,3;8;9;4,12" },
        { 2, 3, "2,3;2,3;4,5" }, /* two share a mask on both NUMA nodes */
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct plan_case *s = plan_case_of("plain=%ux%u nic=1 bound=%s", cases[k].numas,
                                           cases[k].cores, cases[k].masks);
        plan_case_make(s);
        for (unsigned i = 0; i < s->plan.task_count; i++)
            for (unsigned j = 0; j < i; j++)
                if (!hwloc_bitmap_isequal(s->masks[i], s->masks[j]))
                    assert_false(hwloc_bitmap_intersects(s->plan.assignments[i].cpus,
                                                         s->plan.assignments[j].cpus));
    }
}

/* PUs without a NUMA node have no shape that another NUMA node could have. */
TEST(test_unknown_numa)
{
    static const char *const masks[] = { "3-5", "3,4;12", "3,4;8", "3;4;5" };
    for (size_t k = 0; k < sizeof(masks) / sizeof(*masks); k++) {
        struct plan_case *s = plan_case_new();
        machine_plain(&s->node, 4, 4);
        machine_nic(&s->node, "mlx5_0", 3);
        for (unsigned i = 0; i < 4; i++)
            s->node.pus[i].numa = -1;
        hwloc_bitmap_zero(s->node.numas[0].cpus);
        plan_case_set(s, "bound=%s", masks[k]);
        plan_case_step(s, "3-5,8-15");
        plan_case_make(s);
        for (unsigned i = 0; i < s->plan.task_count; i++) {
            hwloc_const_bitmap_t cpus = s->plan.assignments[i].cpus;
            assert_true(hwloc_bitmap_isincluded(cpus, s->request.allowed_cpus));
            assert_int_equal(hwloc_bitmap_weight(cpus), hwloc_bitmap_weight(s->masks[i]));
        }
    }
}

/* Two NICs, and rank 1 is beside one: rank 0 goes to the other one, and rank 1 stays. */
TEST(test_no_loss)
{
    struct plan_case *s = plan_case_of("quad bound=0;2");
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "3,1");
}

/* Another step may have the other thread of a core. */
TEST(test_whole_cores)
{
    struct plan_case *s = plan_case_of("quad bound=0;1 step=0-7,8-9,12-13");
    expect(s, "0;1", NUIOA_REASON_BLOCK_NO_FREE);
    s = plan_case_of("quad bound=0 step=0-7,8-9,12-13");
    expect(s, "0", NUIOA_REASON_ALONE_NO_FREE);
    s = plan_case_of("quad bound=0");
    plan_case_step(s, "0-9,11-15"); /* core 3 is whole */
    expect(s, "3", NUIOA_REASON_ALONE_MOVED);
}

/* --- hints ------------------------------------------------------------------------------------ */

TEST(test_heavy)
{
    static const double last[] = { 0, 0, 1 }, falling[] = { 3, 2, 1 };
    struct plan_case *s = plan_case_of("hagrid=5 bound=0;1;2");
    plan_case_weigh(s, last);
    expect(s, "0;1;10", NUIOA_REASON_HEAVIER);
    /* No NUMA node gets more than two ranks, for none has more now. */
    s = plan_case_of("hagrid=5 bound=0;1;2");
    plan_case_weigh(s, falling);
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "5,5,3");
    assert_false(s->plan.bound_known);
    s = plan_case_of("hagrid=5 bound=0;2;4");
    plan_case_weigh(s, falling);
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "5,3,6");
    /* Each keeps its hardware threads, on a core of its own. */
    s = plan_case_of("quad bound=0;8");
    plan_case_weigh(s, falling);
    plan_case_make(s);
    assert_string_equal(plan_case_numas(s), "1,3");
    assert_int_equal(hwloc_bitmap_weight(s->plan.assignments[0].cpus), 1);
    /* Ranks of two shapes exchange masks only. */
    s = plan_case_of("hagrid=5 bound=0;1;2-3");
    plan_case_weigh(s, last);
    expect(s, "0;1;2-3", NUIOA_REASON_NO_BETTER);
}

/* --- who may not ------------------------------------------------------------------------------ */

static const struct {
    const char *words;
    enum nuioa_reason why;
} refusals[] = {
    { "not_asked", NUIOA_REASON_FREE_NOT_ASKED },
    { "overlaps", NUIOA_REASON_FREE_OVERLAP },
    { "unconfined", NUIOA_REASON_FREE_UNCONFINED },
    { "--cores=keep", NUIOA_REASON_FREE_KEEP },
    { "bound_by_user --nuioa=force", NUIOA_REASON_FREE_BOUND },
    { "sees_gpu --nuioa=force --gpus=keep", NUIOA_REASON_FREE_GPUS },
};

#define REFUSALS (sizeof(refusals) / sizeof(*refusals))

TEST(test_refused)
{
    static const char *const masks[] = { "0", "0;1", "0;2;1;3" };
    for (size_t k = 0; k < REFUSALS; k++) {
        for (size_t m = 0; m < 2; m++) {
            struct plan_case *s = plan_case_of("hagrid=5 bound=%s", masks[m]);
            plan_case_set(s, "%s", refusals[k].words);
            expect(s, masks[m], refusals[k].why);
            s = plan_case_of("hagrid=5 bound=%s", masks[m]);
            plan_case_weigh_by(s, plan_case_equal);
            plan_case_set(s, "%s", refusals[k].words);
            expect(s, masks[m], refusals[k].why);
            /* It is not said where free cores would not help. */
            s = plan_case_of("hagrid=0 bound=%s", masks[m]);
            plan_case_set(s, "%s", refusals[k].words);
            expect(s, masks[m], m ? NUIOA_REASON_BLOCK_NEAREST : NUIOA_REASON_ALONE_NEAREST);
        }
        /* Masks are exchanged as ever. */
        struct plan_case *s = plan_case_of("hagrid=5 bound=%s", masks[2]);
        plan_case_set(s, "%s", refusals[k].words);
        plan_case_make(s);
        assert_string_equal(plan_case_numas(s), "1,0,1,0");
    }
}

/* Advice is only given where it helps. */
TEST(test_advice)
{
    static const char *const masks[] = { "0", "0;1" };
    for (size_t m = 0; m < 2; m++) {
        struct plan_case *s = plan_case_of("hagrid=5 bound=%s", masks[m]);
        plan_case_step(s, "0-1");
        if (m == 0)
            hwloc_bitmap_set(s->masks[0], 1);
        expect(s, m ? "0;1" : "0-1", m ? NUIOA_REASON_BLOCK_NO_FREE : NUIOA_REASON_ALONE_ALL);
        s = plan_case_of("hagrid=0 bound=%s", masks[m]);
        plan_case_step(s, "0-3");
        expect(s, masks[m], m ? NUIOA_REASON_BLOCK_NEAREST : NUIOA_REASON_ALONE_NEAREST);
    }
    struct plan_case *s = plan_case_of("hagrid=5 bound=0 step=0-3,8");
    expect(s, "2", NUIOA_REASON_ALONE_MOVED);
    s = plan_case_of("hagrid=5 bound=0-3;0-3,8"); /* hints cannot bring one of them nearer */
    expect(s, "0-3;0-3,8", NUIOA_REASON_BLOCK_SPREAD_EQUAL);
}
