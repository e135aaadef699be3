/* SPDX-License-Identifier: BSD-3-Clause */

/* CPUs follow GPUs (option gpus): cases whose answer is known. */

#include "plan_words.h"
#include "unit.h"

/* Two sockets of 4 cores, GPUs 0 and 1 on the first, 2 and 3 on the second, the NIC on the first.
 * The user typed --nuioa. */
static struct plan_case *two_sockets(unsigned tasks)
{
    return plan_case_of("plain=2x4 nic=0 gpu=0 gpu=0 gpu=1 gpu=1 ranks=%ux1 asked", tasks);
}

/* srun -n4 -c1 --gpus-per-task=1 as Slurm 22.05 binds it: CPUs 0,4,1,5 and GPUs 0,1,2,3. */
static struct plan_case *crossed(void)
{
    struct plan_case *s = two_sockets(4);
    plan_case_set(s, "gpus=0;1;2;3 masks=0;4;1;5");
    return s;
}

static void check(struct plan_case *s, const char *cpus, enum nuioa_reason why)
{
    plan_case_make(s);
    assert_string_equal(plan_case_cpus(s), cpus);
    assert_string_equal(s->plan.reason, nuioa_reason_text(why));
    assert_int_equal(s->plan.gpus_left, 0);
}

/* Two ranks with a GPU of the other socket exchange their CPUs; the others stay. */
TEST(test_crossed)
{
    struct plan_case *s = crossed();
    check(s, "0;1;4;5", NUIOA_REASON_FOLLOW);
    assert_string_equal(s->plan.mapper, "follow");
    assert_false(s->plan.bound_known);
}

/* Ranks that have the whole node divide it: each has its share beside its GPU. */
TEST(test_wide)
{
    struct plan_case *s = crossed();
    plan_case_unbind(s);
    plan_case_gpus(s, "3;1;2;0");
    check(s, "4-5;0-1;6-7;2-3", NUIOA_REASON_FOLLOW_SHARE);
    plan_case_option(s, "cores", "keep");
    check(s, "0-7;0-7;0-7;0-7", NUIOA_REASON_SHARE_NOT_ASKED);
    plan_case_option(s, "cores", "share");
    check(s, "4-5;0-1;6-7;2-3", NUIOA_REASON_FOLLOW_SHARE);
    s->request.overlaps = true;
    check(s, "0-7;0-7;0-7;0-7", NUIOA_REASON_SHARE_OVERLAP);
}

/* Two masks that two ranks share each are exchanged as they are. */
TEST(test_sockets)
{
    struct plan_case *s = crossed();
    plan_case_bind(s, "0-3;4-7;0-3;4-7");
    check(s, "0-3;0-3;4-7;4-7", NUIOA_REASON_FOLLOW);
}

/* The same in a step with more CPUs on one socket: no rank may have fewer, in its mask or to
 * itself. */
TEST(test_unequal_sockets)
{
    struct plan_case *s = crossed();
    plan_case_bind(s, "0-2;4-5;0-2;4-5");
    check(s, "0-2;4-5;0-2;4-5", NUIOA_REASON_FOLLOW_FAR);
    plan_case_bind(s, "0-2;4;0-2;0-2");
    check(s, "0-2;4;0-2;0-2", NUIOA_REASON_FOLLOW_FAR);
    plan_case_bind(s, "0-3;4-5;0-3;4-5");
    check(s, "0-3;4-5;0-3;4-5", NUIOA_REASON_FOLLOW_FAR);
    plan_case_bind(s, "0;4,6;1;5");
    check(s, "0;4,6;1;5", NUIOA_REASON_FOLLOW_FAR);
    plan_case_bind(s, "0;4,6;1-2;5");
    check(s, "0;1-2;4,6;5", NUIOA_REASON_FOLLOW);
}

/* Nobody moves against the user's will, or where something is not known. */
TEST(test_stays)
{
    struct plan_case *s = crossed();
    plan_case_option(s, "gpus", "keep");
    check(s, "0;4;1;5", NUIOA_REASON_GPUS_KEEP);
    plan_case_option(s, "gpus", "auto");
    plan_case_option(s, "gpus", "local-rank");
    check(s, "0;1;4;5", NUIOA_REASON_FOLLOW);
    s->options.asked = false; /* default=on in plugstack.conf */
    check(s, "0;4;1;5", NUIOA_REASON_GPUS_KEEP);
    plan_case_option(s, "gpus", "auto");
    check(s, "0;4;1;5", NUIOA_REASON_GPUS_KEEP);
    plan_case_option(s, "gpus", "follow");
    check(s, "0;1;4;5", NUIOA_REASON_FOLLOW);

    s->request.bound_by_user = true;
    check(s, "0;4;1;5", NUIOA_REASON_CPU_BIND);
    plan_case_option(s, "nuioa", "force");
    check(s, "0;1;4;5", NUIOA_REASON_FOLLOW);
    s->request.bound_by_user = false;
    s->request.memory_by_rank = true; /* --mem-bind=map_mem */
    check(s, "0;1;4;5", NUIOA_REASON_FOLLOW);
    plan_case_option(s, "nuioa", "on");
    plan_case_option(s, "gpus", "follow");
    check(s, "0;4;1;5", NUIOA_REASON_MEM_BIND);
    s->request.memory_by_rank = false;

    plan_case_option(s, "cores", "pack");
    check(s, "0;4;1;5", NUIOA_REASON_GPUS);
    plan_case_option(s, "cores", "auto");

    s->tasks[2].gpus_known = false;
    check(s, "0;4;1;5", NUIOA_REASON_GPUS_UNKNOWN);
    s->tasks[2].gpus_known = true;
    hwloc_bitmap_zero(s->node.gpus[3].numas);
    check(s, "0;4;1;5", NUIOA_REASON_GPUS_NO_NUMA);
    hwloc_bitmap_set(s->node.gpus[3].numas, 7); /* there is no such NUMA node */
    check(s, "0;4;1;5", NUIOA_REASON_GPUS_NO_NUMA);
}

/* CPUs follow GPUs also without a NIC. Ranks without a GPU make room. */
TEST(test_without)
{
    struct plan_case *s = crossed();
    plan_case_option(s, "nic", "^mlx5_0");
    plan_case_gpus(s, "0;1;;3");
    check(s, "0;2;1;5", NUIOA_REASON_FOLLOW_FREE);
    plan_case_option(s, "cores", "keep");
    check(s, "0;1;4;5", NUIOA_REASON_FOLLOW);
    plan_case_gpus(s, ";;;");
    check(s, "0;4;1;5", NUIOA_REASON_NO_NIC); /* nobody has a GPU: a step as any other */
}

/* Ranks that use one GPU share the places beside it: the heavier ones have them, by the NIC. */
TEST(test_one_gpu)
{
    static const double weights[4] = { 1, 2, 3, 4 };
    struct plan_case *s = crossed();
    plan_case_option(s, "cores", "share"); /* nothing to divide, and free cores are used */
    plan_case_gpus(s, "3;3;3;3");
    check(s, "6;4;7;5", NUIOA_REASON_FOLLOW_FREE);
    plan_case_option(s, "cores", "keep");
    check(s, "0;4;1;5", NUIOA_REASON_FOLLOW_NO_FREE);
    plan_case_option(s, "nic", "^mlx5_0");
    plan_case_weigh(s, weights);
    check(s, "0;4;1;5", NUIOA_REASON_FOLLOW_NO_FREE); /* 1 would have to leave its GPU for 2 */
}

/* A heavy rank beside the NIC would have to leave it for its GPU. */
TEST(test_costs)
{
    static const double weights[4] = { 1, 1, 2, 1 };
    struct plan_case *s = crossed();
    plan_case_weigh(s, weights);
    check(s, "0;4;1;5", NUIOA_REASON_FOLLOW_COSTS);
    assert_string_equal(s->plan.mapper, "keep");
    s->tasks[1].weight = 2;
    check(s, "0;1;4;5", NUIOA_REASON_FOLLOW);
}

/* The price of a rank with a GPU is that from the NIC of its GPU, not from the nearest. */
TEST(test_own_nic)
{
    static const double weights[4] = { 1, 1, 2, 1 };
    struct plan_case *s = crossed();
    machine_nic(&s->node, "mlx5_1", 1);
    plan_case_weigh(s, weights);
    s->options.load_cost = 0; /* distance alone */
    check(s, "0;1;4;5", NUIOA_REASON_FOLLOW);
    assert_true(s->plan.before.j > 5.89 && s->plan.before.j < 5.91);
    assert_true(s->plan.after.j > 4.99 && s->plan.after.j < 5.01);
    assert_string_equal(plan_case_nics(s), "0,0,1,1");
}

/* The only rank of a node moves to free CPUs beside its GPU. */
TEST(test_alone)
{
    struct plan_case *s = two_sockets(1);
    plan_case_gpus(s, "2");
    check(s, "4", NUIOA_REASON_FOLLOW_ALONE);
    s->request.overlaps = true; /* other steps may have these CPUs */
    check(s, "0", NUIOA_REASON_FOLLOW_NO_FREE);
    s->request.overlaps = false;
    s->request.unconfined = true;
    check(s, "0", NUIOA_REASON_FOLLOW_FAR);
    s->request.unconfined = false;
    plan_case_gpus(s, "1");
    check(s, "0", NUIOA_REASON_FOLLOW_NEAREST);

    plan_case_gpus(s, "2");
    plan_case_unbind(s); /* it has all CPUs of the step */
    check(s, "0-7", NUIOA_REASON_ALONE_NOT_ASKED);
    s->request.cpus_typed = 3;
    check(s, "4-6", NUIOA_REASON_FOLLOW_ALONE);
    s->request.cpus_typed = 5;
    check(s, "0-4", NUIOA_REASON_FOLLOW_ALONE);
    s->request.cpus_typed = 8;
    check(s, "0-7", NUIOA_REASON_FOLLOW_FAR);
}

/* Ranks move to free cores beside their GPUs, all of them if there is room, and only where the user
 * asked and the cores are the step's own. */
TEST(test_free_cores)
{
    struct plan_case *s = two_sockets(4);
    plan_case_gpus(s, "0;1;2;3");
    check(s, "0;1;4;5", NUIOA_REASON_FOLLOW_FREE); /* block:block, whole nodes */
    s->request.task_count = 3;
    plan_case_bind(s, "0;4;1");
    plan_case_gpus(s, "2;3;3"); /* all on socket 1 */
    check(s, "5;4;6", NUIOA_REASON_FOLLOW_FREE);
    assert_int_equal(s->plan.assignments[2].gpu_level, 0);
    assert_int_equal(s->plan.assignments[2].costs.gpu_level_before, 1);

    plan_case_option(s, "cores", "keep");
    check(s, "0;4;1", NUIOA_REASON_FOLLOW_NO_FREE);
    plan_case_option(s, "cores", "auto");
    s->request.overlaps = true;
    check(s, "0;4;1", NUIOA_REASON_FOLLOW_NO_FREE);
    s->request.overlaps = false;
    s->request.unconfined = true;
    check(s, "0;4;1", NUIOA_REASON_FOLLOW_FAR);
    s->request.unconfined = s->options.asked = false;
    plan_case_option(s, "gpus", "follow");
    check(s, "0;4;1", NUIOA_REASON_FOLLOW_NO_FREE);
    s->options.asked = true;
    assert_false(s->plan.advice & 1u << NUIOA_ADVICE_GPUS_FAR); /* the step has all cores */

    plan_case_step(s, "0-1,4,6");
    check(s, "6;4;1", NUIOA_REASON_FOLLOW_FREE); /* one is free */
    assert_true(s->plan.advice & 1u << NUIOA_ADVICE_GPUS_FAR);
    plan_case_bind(s, "0;4;1,6"); /* masks of several shapes */
    check(s, "0;4;1,6", NUIOA_REASON_FOLLOW_FAR);
}

/* If free cores would cost more, masks are exchanged as without them. */
TEST(test_free_costs)
{
    static const double weights[] = { 5, 1, 1 };
    struct plan_case *s = two_sockets(3);
    plan_case_bind(s, "0;4;1");
    plan_case_gpus(s, "2;0;2");
    plan_case_weigh(s, weights);
    check(s, "0;1;4", NUIOA_REASON_FOLLOW);
    plan_case_gpus(s, "2;2;0");
    check(s, "0;4;1", NUIOA_REASON_FOLLOW_COSTS);
}

/* Ranks that share the masks of sockets leave them for a whole free one. */
TEST(test_free_sockets)
{
    struct plan_case *s = two_sockets(2);
    plan_case_bind(s, "0-3;0-3");
    plan_case_option(s, "cores", "keep");
    plan_case_gpus(s, "0;2");
    check(s, "0-3;0-3", NUIOA_REASON_SHARE_NOT_ASKED);

    s = plan_case_of("plain=3x2 gpu=0 gpu=1 gpu=2 bound=0-1;0-1;2-3 gpus=0;2;1");
    check(s, "0-1;4-5;2-3", NUIOA_REASON_FOLLOW_FREE);
}

/* GPUs of all ranks on one socket: a part of the shared CPUs would be on the other. */
TEST(test_wide_takes)
{
    struct plan_case *s = two_sockets(3);
    plan_case_unbind(s);
    plan_case_gpus(s, "2;3;3");
    check(s, "0-7;0-7;0-7", NUIOA_REASON_FOLLOW_SHARE_TAKES);
    plan_case_gpus(s, "2;3;0");
    check(s, "4-5;6-7;0-3", NUIOA_REASON_FOLLOW_SHARE);
}

/* The ranks of each socket's GPUs divide its cores: also where these are not as many for each. */
TEST(test_wide_homes)
{
    struct plan_case *s = plan_case_of("plain=2x4 nic=0 gpu=0 gpu=0 gpu=0 gpu=1 gpu=1 gpu=1 "
                                       "ranks=6x0 asked unbound gpus=0;1;2;3;4;5");
    check(s, "0-1;2;3;4-5;6;7", NUIOA_REASON_FOLLOW_SHARE);
    plan_case_gpus(s, "3;0;4;1;5;2");
    check(s, "4-5;0-1;6;2;7;3", NUIOA_REASON_FOLLOW_SHARE);
    s->request.task_count = 3;
    plan_case_gpus(s, "0;3;1");
    check(s, "0-1;4-7;2-3", NUIOA_REASON_FOLLOW_SHARE);
    s->request.task_count = 6;
    plan_case_gpus(s, "0;1;2;0;1;3"); /* five on a socket of four cores */
    check(s, "0-7;0-7;0-7;0-7;0-7;0-7", NUIOA_REASON_FOLLOW_SHARE_TAKES);
}

/* Two NUMA nodes of each socket, pairs of GPUs beside one of them: the lower rank of each pair is
 * there, the other beside. Where no part is near, lower ranks have the larger. */
TEST(test_wide_order)
{
    static const uint32_t distance[] = { 10, 12, 32, 32, 12, 10, 32, 32,
                                         32, 32, 10, 12, 32, 32, 12, 10 };
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 4, 2, 1, 2, distance });
    machine_nic(&s->node, "mlx5_0", 0);
    for (unsigned g = 0; g < 4; g++)
        machine_gpu(&s->node, g / 2 * 2 + 1);
    plan_case_on(s, 4, 1);
    s->options.asked = true;
    plan_case_gpus(s, "0;1;2;3");
    plan_case_unbind(s);
    check(s, "2-3;0-1;6-7;4-5", NUIOA_REASON_FOLLOW_SHARE_FAR);
    plan_case_gpus(s, "3;1;0;2");
    check(s, "6-7;2-3;0-1;4-5", NUIOA_REASON_FOLLOW_SHARE_FAR);

    /* Three of four sockets, the GPUs are on the last. */
    s = plan_case_of(
        "plain=4x4 gpu=3 ranks=5x1 asked gpus=0;0;0;0;0 step=0-11 masks=0-11;0-11;0-11;0-11;0-11");
    plan_case_make(s);
    assert_int_equal(s->plan.why, NUIOA_REASON_FOLLOW_FAR); /* nobody would be nearer */
    plan_case_option(s, "cores", "share");
    plan_case_make(s);
    assert_int_equal(s->plan.why, NUIOA_REASON_FOLLOW_SHARE_FAR);
    for (unsigned i = 1; i < 5; i++)
        assert_true(hwloc_bitmap_weight(s->plan.assignments[i - 1].cpus) >=
                    hwloc_bitmap_weight(s->plan.assignments[i].cpus));
}
