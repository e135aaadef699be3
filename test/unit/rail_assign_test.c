/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact_matching.h"
#include "gpu_machine.h"
#include "plan/plan.h"
#include "unit.h"

/* Which NICs ranks with GPUs get. */

static bool oracle_near(const struct nuioa_node *node, unsigned gpu, unsigned nic)
{
    unsigned here = node->paths[gpu * node->nic_count + nic];
    for (unsigned n = 0; n < node->nic_count; n++)
        if (node->paths[gpu * node->nic_count + n] < here)
            return false;
    return true;
}

/* Compares a plan where each rank has one GPU: every path is as short as it can be, as many NICs
 * are used as can be, and none has more ranks than must be. */
static void check_one_gpu(const struct plan_case *s, const char *name)
{
    struct exact_matching o = { .users = s->plan.task_count, .machines = s->node.nic_count };
    unsigned load[64] = { 0 }, used = 0, most = 0;
    for (unsigned i = 0; i < o.users; i++) {
        const struct nuioa_assignment *a = &s->plan.assignments[i];
        for (unsigned n = 0; n < o.machines; n++)
            o.allowed[i][n] = oracle_near(&s->node, s->tasks[i].gpus[0], n);
        for (unsigned k = 0; k < a->nic_count; k++)
            if (!o.allowed[i][a->nics[k]])
                fail_msg("%s: rank %u: NIC %u is not the nearest", name, i, a->nics[k]);
        assert_int_equal(a->nic, a->nics[0]);
        used += !load[a->nic]++;
        most = load[a->nic] > most ? load[a->nic] : most;
    }
    if (used != exact_matching_most(&o, 1) || most != exact_matching_least_load(&o))
        fail_msg("%s: %u NICs with up to %u ranks, but %u and %u are possible", name, used, most,
                 exact_matching_most(&o, 1), exact_matching_least_load(&o));
}

TEST(test_gpus_in_any_order)
{
    static const char *const orders[] = { "0;1;2;3;4;5;6;7", "7;6;5;4;3;2;1;0", "3;1;4;0;5;7;2;6" };
    for (unsigned t = 0; t < 3; t++) {
        struct plan_case *s = gpu_machine_hgx(8);
        plan_case_gpus(s, orders[t]);
        plan_case_make(s);
        assert_string_equal(plan_case_all_nics(s), orders[t]);
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal(s->plan.assignments[i].path, NUIOA_PATH_PIX);
            assert_int_equal(s->plan.assignments[i].gpu_count, 1);
            assert_int_equal(s->plan.assignments[i].gpus[0], s->tasks[i].gpus[0]);
        }
    }
}

/* Every machine, with one rank for each GPU, for every second one, and in descending order. */
TEST(test_shapes)
{
    for (unsigned t = 0; t < GPU_SHAPES; t++)
        for (unsigned step = 1; step <= 2; step++)
            for (unsigned down = 0; down < 2; down++) {
                unsigned gpus = gpu_shapes[t].gpus, tasks = gpus / step;
                struct plan_case *s = gpu_machine(&gpu_shapes[t], tasks);
                char list[128] = "";
                for (unsigned i = 0; i < tasks; i++)
                    snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u", i ? ";" : "",
                             down ? gpus - 1 - i * step : i * step);
                plan_case_gpus(s, list);
                plan_case_make(s);
                check_one_gpu(s, gpu_shapes[t].name);
            }
}

TEST(test_several_gpus_a_rank)
{
    struct plan_case *s = gpu_machine_hgx(4);
    plan_case_gpus(s, "2,3;0,1;6,7;4,5");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "2,3;0,1;6,7;4,5");
    assert_int_equal(s->plan.assignments[0].path, NUIOA_PATH_PIX);

    /* the worst path counts; GPU 7 is on no switch with a NIC */
    s = gpu_machine_hgx(1);
    for (unsigned n = 0; n < 8; n++)
        machine_path(&s->node, 7, n, n < 4 ? NUIOA_PATH_SYS : NUIOA_PATH_NODE);
    plan_case_gpus(s, "0,7");
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].nics[0], 0);
    assert_int_equal(s->plan.assignments[0].path, NUIOA_PATH_NODE);
}

/* Two GPUs may use both NICs of their switch, a third one only the first: without an augmenting
 * path the third one shares while a NIC is idle. */
TEST(test_augmenting_path)
{
    static const enum nuioa_path paths[3][3] = {
        { NUIOA_PATH_PIX, NUIOA_PATH_PIX, NUIOA_PATH_SYS },
        { NUIOA_PATH_SYS, NUIOA_PATH_PIX, NUIOA_PATH_PIX },
        { NUIOA_PATH_PIX, NUIOA_PATH_PIX, NUIOA_PATH_SYS },
    };
    struct plan_case *s = gpu_machine(&(struct gpu_shape){ "", 1, 3, 3, 1, NUIOA_PATH_PIX }, 3);
    for (unsigned g = 0; g < 3; g++)
        for (unsigned n = 0; n < 3; n++)
            machine_path(&s->node, g, n, paths[g][n]);
    plan_case_gpus(s, "0;1;2");
    plan_case_make(s);
    check_one_gpu(s, "three GPUs");
    assert_string_equal(plan_case_all_nics(s), "0;2;1");
}

/* Random paths, and random GPUs of the ranks. */
TEST(test_random_paths)
{
    srandom(18);
    for (unsigned round = 0; round < 2000; round++) {
        unsigned gpus = 1 + (unsigned)random() % 8, nics = 1 + (unsigned)random() % 8;
        unsigned tasks = 1 + (unsigned)random() % 12;
        struct plan_case *s =
            gpu_machine(&(struct gpu_shape){ "", 2, gpus, nics, 1, NUIOA_PATH_PIX }, tasks);
        for (unsigned g = 0; g < gpus; g++)
            for (unsigned n = 0; n < nics; n++)
                machine_path(&s->node, g, n, random() % 3 ? NUIOA_PATH_SYS : NUIOA_PATH_PXB);
        char list[128] = "", name[32];
        for (unsigned i = 0; i < tasks; i++)
            snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%ld", i ? ";" : "",
                     random() % gpus);
        plan_case_gpus(s, list);
        plan_case_make(s);
        snprintf(name, sizeof(name), "round %u", round);
        check_one_gpu(s, name);
        plan_case_free(s);
    }
}

/* Where no path is known, the CPUs of the GPU decide, as they do for a rank without GPUs. */
TEST(test_unknown_paths)
{
    struct plan_case *s = gpu_machine_hgx(2);
    free(s->node.paths);
    s->node.paths = NULL;
    plan_case_gpus(s, "7;0");
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].nic, 7);
    assert_int_equal(s->plan.assignments[1].nic, 0);
    assert_int_equal(s->plan.assignments[0].path, NUIOA_PATH_UNKNOWN);
    /* a known path is shorter than an unknown one */
    machine_path(&s->node, 7, 1, NUIOA_PATH_SYS);
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].nic, 1);
    assert_int_equal(s->plan.assignments[0].path, NUIOA_PATH_SYS);
    /* a GPU without CPUs has the NIC that is near those of its rank */
    hwloc_bitmap_zero(s->node.gpus[0].cpus);
    hwloc_bitmap_copy(s->masks[1], s->node.numas[1].cpus);
    plan_case_make(s);
    assert_true(s->plan.assignments[1].nic >= 4);
}

/* Unknown GPUs change nothing: the rank has one NIC, near its CPUs, and no GPU is told. */
TEST(test_unknown_gpus)
{
    struct plan_case *s = gpu_machine_hgx(1);
    plan_case_gpus(s, "?");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0");
    assert_int_equal(s->plan.assignments[0].gpu_count, 0);
    assert_int_equal(s->plan.assignments[0].path, NUIOA_PATH_UNKNOWN);
    assert_false(s->plan.assignments[0].gpus_known);

    /* a node without GPUs leaves no doubt */
    s = gpu_machine_equal_rails(2, 1);
    s->tasks[0].gpus_known = false;
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1");
    assert_true(s->plan.assignments[0].gpus_known);
}

/* Ranks that see the same GPUs have one NIC each, and none that is near to none of these; it is the
 * nearest to their CPUs, wherever the GPUs are. */
TEST(test_gpus_that_others_see)
{
    struct plan_case *s = gpu_machine_hgx(4);
    plan_case_gpus(s, "?5,6;?5,6;?5,6;7");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "5;6;5;7");
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(s->plan.assignments[i].gpu_count, 0);
        assert_false(s->plan.assignments[i].gpus_known);
        assert_int_equal(s->plan.assignments[i].near_count, 2);
        assert_int_equal(s->plan.assignments[i].near[0], 5);
        assert_int_equal(s->plan.assignments[i].near[1], 6);
    }
    assert_int_equal(s->plan.assignments[3].near_count, 0);
    plan_case_option(s, "rails", "3"); /* there are no three that may be near */
    plan_case_gpus(s, "?5,6;?5,6;?0,6;?0,1,2,3");
    plan_case_make(s);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(s->plan.assignments[i].nic_count, 2);
    assert_int_equal(s->plan.assignments[2].nic, 0); /* the rank is on its NUMA node */
    assert_int_equal(s->plan.assignments[3].nic_count, 3);
    plan_case_gpus(s, "?8;0;1;2");
    nuioa_plan_free(&s->plan);
    assert_int_equal(nuioa_plan_make(&s->request, &s->plan, &s->err), -EINVAL);
}

/* Copies the NICs of one rank to another plan. */
static void copy_nics(struct nuioa_plan *plan, const struct nuioa_plan *other, uint32_t local)
{
    struct nuioa_assignment *to = &plan->assignments[local];
    const struct nuioa_assignment *from = &other->assignments[local];
    to->nics = nuioa_arena_take(&plan->arena, from->nic_count, sizeof(*to->nics));
    assert_non_null(to->nics);
    for (uint32_t k = 0; k < from->nic_count; k++)
        to->nics[k] = from->nics[k];
    to->nic_count = from->nic_count;
    to->nic = from->nic;
    to->path = from->path;
}

/* Each process of a node plans for itself, and knows its own GPU alone: together they choose as
 * well as a plan that knows all. */
TEST(test_each_knows_its_own)
{
    for (unsigned i = 0; i < GPU_SHAPES; i++) {
        unsigned n = gpu_shapes[i].gpus;
        struct plan_case *all = gpu_machine(&gpu_shapes[i], n);
        char text[64] = "";
        for (unsigned k = 0; k < n; k++)
            sprintf(text + strlen(text), "%s%u", k ? ";" : "", n - 1 - k);
        plan_case_gpus(all, text);
        plan_case_make(all);
        for (unsigned k = 0; k < n; k++) {
            struct plan_case *one = gpu_machine(&gpu_shapes[i], n);
            *text = '\0';
            for (unsigned other = 0; other < n; other++)
                sprintf(text + strlen(text), other == k ? "%s%u" : "%s?", other ? ";" : "",
                        n - 1 - k);
            plan_case_gpus(one, text);
            plan_case_make(one);
            copy_nics(&all->plan, &one->plan, k);
            plan_case_free(one);
        }
        check_one_gpu(all, gpu_shapes[i].name);
        plan_case_free(all);
    }
}

/* The same with paths by chance. As in `nuioa exec`, every rank may run on all CPUs. */
TEST(test_each_knows_its_own_of_any)
{
    srandom(6);
    for (unsigned round = 0; round < 300; round++) {
        unsigned n = 2 + (unsigned)random() % 6, nics = 1 + (unsigned)random() % 6;
        const struct gpu_shape shape = { "", 2, n, nics, 1, NUIOA_PATH_PIX };
        unsigned path[8][8];
        struct plan_case *cases[8];
        for (unsigned g = 0; g < n; g++)
            for (unsigned k = 0; k < nics; k++)
                path[g][k] = random() % 3 ? NUIOA_PATH_SYS : NUIOA_PATH_PXB;
        for (unsigned i = 0; i <= n; i++) {
            struct plan_case *s = cases[i] = gpu_machine(&shape, n);
            char text[64] = "";
            for (unsigned k = 0; k < n; k++) {
                sprintf(text + strlen(text), i == n || i == k ? "%s%u" : "%s?", k ? ";" : "", k);
                hwloc_bitmap_copy(s->masks[k], s->node.allowed_cpus);
            }
            for (unsigned g = 0; g < n; g++)
                for (unsigned k = 0; k < nics; k++)
                    machine_path(&s->node, g, k, path[g][k]);
            plan_case_option(s, "gpus", "keep");
            plan_case_gpus(s, text);
            plan_case_make(s);
        }
        for (unsigned i = 0; i < n; i++) {
            copy_nics(&cases[n]->plan, &cases[i]->plan, i);
            plan_case_free(cases[i]);
        }
        check_one_gpu(cases[n], "ranks that know their own GPUs");
        plan_case_free(cases[n]);
    }
}

TEST(test_a_gpu_that_is_not_there)
{
    struct plan_case *s = gpu_machine_hgx(1);
    struct nuioa_plan plan;
    plan_case_gpus(s, "8");
    assert_true(nuioa_plan_make(&s->request, &plan, &s->err) < 0);
    assert_string_equal(s->err.text, "rank 0 has a GPU that the node lacks");
}
