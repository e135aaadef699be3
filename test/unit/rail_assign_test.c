/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "machine.h"
#include "plan/rail_match.h"
#include "plan_case.h"

/* Which NICs the ranks of a node with several GPUs and NICs get. The oracle is an exact matching by
 * augmenting paths, which shares nothing with the code under test. */

/* --- machines --------------------------------------------------------------------------------- */

/* Where a GPU and a NIC are behind the same switch, their path is `within`; on the same NUMA node
 * it is NODE, else SYS. */
struct gpu_shape {
    const char *name;
    unsigned numas, gpus, nics, switches;
    enum nuioa_path within;
};

static const struct gpu_shape shapes[] = {
    { "HGX H100: a NIC for each GPU", 2, 8, 8, 8, NUIOA_PATH_PIX },
    { "DGX A100: two GPUs and two NICs on a switch", 2, 8, 8, 4, NUIOA_PATH_PXB },
    { "Frontier: two dies and a NIC", 4, 8, 4, 4, NUIOA_PATH_PIX },
    { "GH200: no switches", 4, 4, 4, 4, NUIOA_PATH_NODE },
    { "p5: four NICs for each GPU", 2, 8, 32, 8, NUIOA_PATH_PXB },
    { "four GPUs on a switch, two NICs", 2, 8, 4, 2, NUIOA_PATH_PIX },
    { "one switch", 1, 6, 3, 1, NUIOA_PATH_PHB },
};
#define SHAPES (sizeof(shapes) / sizeof(*shapes))

static struct plan_case *machine_of(const struct gpu_shape *g, unsigned tasks)
{
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){
                                .numas = g->numas,
                                .cores = 64 / g->numas,
                                .threads = 1,
                                .numas_per_package = 1,
                            });
    for (unsigned n = 0; n < g->nics; n++) {
        char name[16];
        snprintf(name, sizeof(name), "mlx5_%u", n);
        machine_nic(&s->node, name, n * g->numas / g->nics);
    }
    for (unsigned k = 0; k < g->gpus; k++)
        machine_gpu(&s->node, k * g->numas / g->gpus);
    for (unsigned k = 0; k < g->gpus; k++)
        for (unsigned n = 0; n < g->nics; n++) {
            bool near = k * g->numas / g->gpus == n * g->numas / g->nics;
            bool within = k * g->switches / g->gpus == n * g->switches / g->nics;
            machine_path(&s->node, k, n,
                         within ? g->within
                         : near ? NUIOA_PATH_NODE
                                : NUIOA_PATH_SYS);
        }
    plan_case_on(s, tasks, 1);
    return s;
}

static struct plan_case *hgx(unsigned tasks)
{
    return machine_of(&shapes[0], tasks);
}

/* `nics` equal NICs on one NUMA node, without GPUs. */
static struct plan_case *equal_rails(unsigned nics, unsigned tasks)
{
    return machine_of(&(struct gpu_shape){ "", 1, 0, nics, 1, NUIOA_PATH_PIX }, tasks);
}

/* --- the oracle ------------------------------------------------------------------------------- */

struct oracle {
    unsigned users, machines, capacity;
    bool allowed[64][64];
    unsigned held[64], holder[64][64];
};

static bool augment(struct oracle *o, unsigned user, bool *seen)
{
    for (unsigned m = 0; m < o->machines; m++) {
        if (!o->allowed[user][m] || seen[m])
            continue;
        seen[m] = true;
        if (o->held[m] < o->capacity) {
            o->holder[m][o->held[m]++] = user;
            return true;
        }
        for (unsigned k = 0; k < o->held[m]; k++)
            if (augment(o, o->holder[m][k], seen)) {
                o->holder[m][k] = user;
                return true;
            }
    }
    return false;
}

/* Returns how many users can have a machine if each machine takes `capacity` of them. */
static unsigned matched(struct oracle *o, unsigned capacity)
{
    unsigned count = 0;
    o->capacity = capacity;
    memset(o->held, 0, sizeof(o->held));
    for (unsigned u = 0; u < o->users; u++) {
        bool seen[64] = { false };
        count += augment(o, u, seen);
    }
    return count;
}

/* Returns the least number of users that the most loaded machine must have. */
static unsigned least_load(struct oracle *o)
{
    unsigned capacity = 1;
    while (matched(o, capacity) < o->users)
        capacity++;
    return capacity;
}

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
    struct oracle o = { .users = s->plan.task_count, .machines = s->node.nic_count };
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
    if (used != matched(&o, 1) || most != least_load(&o))
        fail_msg("%s: %u NICs with up to %u ranks, but %u and %u are possible", name, used, most,
                 matched(&o, 1), least_load(&o));
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static void test_gpus_in_any_order(void **state)
{
    (void)state;
    static const char *const orders[] = { "0;1;2;3;4;5;6;7", "7;6;5;4;3;2;1;0", "3;1;4;0;5;7;2;6" };
    for (unsigned t = 0; t < 3; t++) {
        struct plan_case *s = hgx(8);
        plan_case_gpus(s, orders[t]);
        plan_case_make(s);
        assert_string_equal(plan_case_all_nics(s), orders[t]);
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal(s->plan.assignments[i].path, NUIOA_PATH_PIX);
            assert_int_equal(s->plan.assignments[i].gpu_count, 1);
            assert_int_equal(s->plan.assignments[i].gpus[0], s->tasks[i].gpus[0]);
        }
        plan_case_free(s);
    }
}

/* Every machine, with one rank for each GPU, for every second one, and in descending order. */
static void test_shapes(void **state)
{
    (void)state;
    for (unsigned t = 0; t < SHAPES; t++)
        for (unsigned step = 1; step <= 2; step++)
            for (unsigned down = 0; down < 2; down++) {
                unsigned gpus = shapes[t].gpus, tasks = gpus / step;
                struct plan_case *s = machine_of(&shapes[t], tasks);
                char list[128] = "";
                for (unsigned i = 0; i < tasks; i++)
                    snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%u", i ? ";" : "",
                             down ? gpus - 1 - i * step : i * step);
                plan_case_gpus(s, list);
                plan_case_make(s);
                check_one_gpu(s, shapes[t].name);
                plan_case_free(s);
            }
}

static void test_several_gpus_a_rank(void **state)
{
    (void)state;
    struct plan_case *s = hgx(4);
    plan_case_gpus(s, "2,3;0,1;6,7;4,5");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "2,3;0,1;6,7;4,5");
    assert_int_equal(s->plan.assignments[0].path, NUIOA_PATH_PIX);
    plan_case_free(s);

    /* the worst path counts; GPU 7 is on no switch with a NIC */
    s = hgx(1);
    for (unsigned n = 0; n < 8; n++)
        machine_path(&s->node, 7, n, n < 4 ? NUIOA_PATH_SYS : NUIOA_PATH_NODE);
    plan_case_gpus(s, "0,7");
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].nics[0], 0);
    assert_int_equal(s->plan.assignments[0].path, NUIOA_PATH_NODE);
    plan_case_free(s);
}

/* Two GPUs may use both NICs of their switch, a third one only the first: without an augmenting
 * path the third one shares while a NIC is idle. */
static void test_augmenting_path(void **state)
{
    (void)state;
    static const enum nuioa_path paths[3][3] = {
        { NUIOA_PATH_PIX, NUIOA_PATH_PIX, NUIOA_PATH_SYS },
        { NUIOA_PATH_SYS, NUIOA_PATH_PIX, NUIOA_PATH_PIX },
        { NUIOA_PATH_PIX, NUIOA_PATH_PIX, NUIOA_PATH_SYS },
    };
    struct plan_case *s = machine_of(&(struct gpu_shape){ "", 1, 3, 3, 1, NUIOA_PATH_PIX }, 3);
    for (unsigned g = 0; g < 3; g++)
        for (unsigned n = 0; n < 3; n++)
            machine_path(&s->node, g, n, paths[g][n]);
    plan_case_gpus(s, "0;1;2");
    plan_case_make(s);
    check_one_gpu(s, "three GPUs");
    assert_string_equal(plan_case_all_nics(s), "0;2;1");
    plan_case_free(s);
}

/* Random paths, and random GPUs of the ranks. */
static void test_random_paths(void **state)
{
    (void)state;
    srandom(18);
    for (unsigned round = 0; round < 2000; round++) {
        unsigned gpus = 1 + (unsigned)random() % 8, nics = 1 + (unsigned)random() % 8;
        unsigned tasks = 1 + (unsigned)random() % 12;
        struct plan_case *s =
            machine_of(&(struct gpu_shape){ "", 2, gpus, nics, 1, NUIOA_PATH_PIX }, tasks);
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
static void test_unknown_paths(void **state)
{
    (void)state;
    struct plan_case *s = hgx(2);
    free(s->node.paths);
    s->node.paths = NULL;
    plan_case_gpus(s, "7;0");
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].nic, 4);
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
    assert_int_equal(s->plan.assignments[1].nic, 4);
    plan_case_free(s);
}

/* Unknown GPUs change nothing: the rank has one NIC, near its CPUs, and no GPU is told. */
static void test_unknown_gpus(void **state)
{
    (void)state;
    struct plan_case *s = hgx(1);
    plan_case_gpus(s, "?");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0");
    assert_int_equal(s->plan.assignments[0].gpu_count, 0);
    assert_int_equal(s->plan.assignments[0].path, NUIOA_PATH_UNKNOWN);
    assert_false(s->plan.assignments[0].gpus_known);
    plan_case_free(s);

    /* a node without GPUs leaves no doubt */
    s = equal_rails(2, 1);
    s->tasks[0].gpus_known = false;
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1");
    assert_true(s->plan.assignments[0].gpus_known);
    plan_case_free(s);
}

/* Moves the NICs of one rank to another plan. */
static void move_nics(struct nuioa_assignment *to, struct nuioa_assignment *from)
{
    free(to->nics);
    to->nics = from->nics;
    to->nic_count = from->nic_count;
    to->nic = from->nic;
    to->path = from->path;
    from->nics = NULL;
    from->nic_count = 0;
}

/* Each process of a node plans for itself, and knows its own GPU alone: together they choose as
 * well as a plan that knows all. */
static void test_each_knows_its_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SHAPES; i++) {
        unsigned n = shapes[i].gpus;
        struct plan_case *all = machine_of(&shapes[i], n);
        char text[64] = "";
        for (unsigned k = 0; k < n; k++)
            sprintf(text + strlen(text), "%s%u", k ? ";" : "", n - 1 - k);
        plan_case_gpus(all, text);
        plan_case_make(all);
        for (unsigned k = 0; k < n; k++) {
            struct plan_case *one = machine_of(&shapes[i], n);
            *text = '\0';
            for (unsigned other = 0; other < n; other++)
                sprintf(text + strlen(text), other == k ? "%s%u" : "%s?", other ? ";" : "",
                        n - 1 - k);
            plan_case_gpus(one, text);
            plan_case_make(one);
            move_nics(&all->plan.assignments[k], &one->plan.assignments[k]);
            plan_case_free(one);
        }
        check_one_gpu(all, shapes[i].name);
        plan_case_free(all);
    }
}

/* The same with paths by chance. As in `nuioa exec`, every rank may run on all CPUs. */
static void test_each_knows_its_own_of_any(void **state)
{
    (void)state;
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
            struct plan_case *s = cases[i] = machine_of(&shape, n);
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
            move_nics(&cases[n]->plan.assignments[i], &cases[i]->plan.assignments[i]);
            plan_case_free(cases[i]);
        }
        check_one_gpu(cases[n], "ranks that know their own GPUs");
        plan_case_free(cases[n]);
    }
}

static void test_a_gpu_that_is_not_there(void **state)
{
    (void)state;
    struct plan_case *s = hgx(1);
    struct nuioa_plan plan;
    plan_case_gpus(s, "8");
    assert_true(nuioa_plan_make(&s->request, &plan, &s->err) < 0);
    assert_string_equal(s->err.text, "rank 0 has a GPU that the node lacks");
    plan_case_free(s);
}

/* --- several rails for a rank ----------------------------------------------------------------- */

static void test_rails(void **state)
{
    (void)state;
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
        struct plan_case *s = equal_rails(cases[t].nics, cases[t].tasks);
        plan_case_option(s, "rails", cases[t].rails);
        plan_case_make(s);
        if (strcmp(plan_case_all_nics(s), cases[t].wanted))
            fail_msg("%u NICs, %u ranks, rails=%s: %s, not %s", cases[t].nics, cases[t].tasks,
                     cases[t].rails, plan_case_all_nics(s), cases[t].wanted);
        plan_case_free(s);
    }
}

/* rails=auto adds no NIC that is farther away; a number does. */
static void test_rails_farther_away(void **state)
{
    (void)state;
    struct plan_case *s = machine_of(&(struct gpu_shape){ "", 2, 0, 4, 1, NUIOA_PATH_PIX }, 1);
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1");
    plan_case_option(s, "rails", "3");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1,2");
    plan_case_free(s);
}

/* Rails that are left go to GPUs too, but those of other GPUs are left to them. */
static void test_rails_of_gpus(void **state)
{
    (void)state;
    static const struct {
        unsigned shape;
        const char *gpus, *rails, *wanted;
    } cases[] = {
        { 0, "5", "auto", "5" },
        { 1, "5", "auto", "4" }, /* GPU 4 has the same two NICs */
        { 1, "4,5", "auto", "4,5" },
        { 1, "5", "2", "4,5" },
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
        struct plan_case *s = machine_of(&shapes[cases[t].shape], tasks);
        plan_case_gpus(s, cases[t].gpus);
        plan_case_option(s, "rails", cases[t].rails);
        plan_case_make(s);
        if (strcmp(plan_case_all_nics(s), cases[t].wanted))
            fail_msg("%s, GPUs %s, rails=%s: %s, not %s", shapes[cases[t].shape].name,
                     cases[t].gpus, cases[t].rails, plan_case_all_nics(s), cases[t].wanted);
        plan_case_free(s);
    }
}

/* A rank with fewer rails than GPUs loads only the NICs that it has. */
static void test_fewer_rails_than_gpus(void **state)
{
    (void)state;
    static const double weights[3] = { 100, 1, 1 };
    struct plan_case *s = machine_of(&shapes[6], 3);
    plan_case_gpus(s, "0,1;2;3");
    plan_case_weigh(s, weights);
    plan_case_option(s, "rails", "1");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0;1;2");
    plan_case_free(s);
}

/* With fewer rails than GPUs, a GPU that is far from every NIC needs none of its own. */
static void test_a_gpu_far_from_all(void **state)
{
    (void)state;
    struct plan_case *s = machine_of(&(struct gpu_shape){ "", 2, 3, 3, 1, NUIOA_PATH_SYS }, 1);
    for (unsigned g = 0; g < 3; g++)
        for (unsigned n = 0; n < 3; n++)
            machine_path(&s->node, g, n, g != 1 && g == n ? NUIOA_PATH_PIX : NUIOA_PATH_SYS);
    plan_case_gpus(s, "0,1,2");
    plan_case_option(s, "rails", "2");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,2");
    plan_case_free(s);
}

/* Each GPU has a part of its rank's weight: here two of them share a NIC, and ranks do not. */
static void test_weight_of_several_gpus(void **state)
{
    (void)state;
    struct plan_case *s = machine_of(&shapes[6], 3);
    plan_case_gpus(s, "0,1;2;3");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "2;0;1");
    plan_case_free(s);
}

/* Two cards with two ports: the second port goes to the rank that uses the card. */
static void test_ports_of_cards(void **state)
{
    (void)state;
    static const double weights[2] = { 1, 2 };
    struct plan_case *s = equal_rails(4, 2);
    s->node.nics[1].card = s->node.nics[0].card;
    s->node.nics[3].card = s->node.nics[2].card;
    plan_case_weigh(s, weights);
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "2,3;0,1");
    plan_case_free(s);
}

/* The second port of a card goes to the rank that uses the card, although a GPU which no rank has
 * is as near. */
static void test_port_beside_a_free_gpu(void **state)
{
    (void)state;
    struct plan_case *s = machine_of(&(struct gpu_shape){ "", 1, 2, 2, 1, NUIOA_PATH_PIX }, 1);
    s->node.nics[1].card = s->node.nics[0].card;
    plan_case_gpus(s, "0");
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,1");
    plan_case_free(s);
}

/* NICs that are left go to heavy ranks. */
static void test_rails_by_weight(void **state)
{
    (void)state;
    static const double weights[2] = { 10, 1 };
    struct plan_case *s = equal_rails(4, 2);
    plan_case_weigh(s, weights);
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "0,2,3;1");
    plan_case_free(s);
}

/* NICs of 400, 100 and 25 Gb/s, all as near, have ranks by their rates. */
static void test_unlike_rates(void **state)
{
    (void)state;
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
        struct plan_case *s = equal_rails(3, cases[t].tasks);
        for (unsigned n = 0; n < 3; n++)
            s->node.nics[n].rate_mbps = 400000 >> 2 * n;
        plan_case_option(s, "nic", "mlx5_*");
        plan_case_option(s, "rails", cases[t].rails);
        plan_case_make(s);
        assert_string_equal(plan_case_all_nics(s), cases[t].wanted);
        plan_case_free(s);
    }
}

/* --- other steps ------------------------------------------------------------------------------ */

/* Their load belongs to NICs of the node, some of which the step may not use. */
static void test_other_steps_and_nic(void **state)
{
    (void)state;
    static const double ranks[4] = { 9, 0, 0, 1 };
    struct plan_case *s = equal_rails(4, 1);
    plan_case_option(s, "nic", "^mlx5_0");
    s->request.nic_ranks = ranks;
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "1,2");
    plan_case_free(s);
}

/* A NIC that others use is avoided, and the report says so, where it made a difference. */
static void test_other_steps(void **state)
{
    (void)state;
    static const struct {
        double ranks[4];
        const char *nics, *clause;
    } cases[] = {
        { { 0, 0, 0, 0 }, "0,1,2,3", NULL },
        { { 1, 0, 0, 0 }, "1,2,3", "; other steps' load changed the NICs of 1" },
        { { 1, 1, 1, 0 }, "3", "; other steps' load changed the NICs of 1" },
        { { 1, 1, 1, 1 }, "0,1,2,3", NULL },
    };
    for (unsigned t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        struct plan_case *s = equal_rails(4, 1);
        s->request.nic_ranks = cases[t].ranks;
        plan_case_make(s);
        assert_string_equal(plan_case_all_nics(s), cases[t].nics);
        const char *clause = strstr(s->plan.reason, "; other");
        if (cases[t].clause)
            assert_string_equal(clause, cases[t].clause);
        else
            assert_null(clause);
        plan_case_free(s);
    }
}

/* A GPU keeps the NIC of its switch, however much others use it. */
static void test_other_steps_and_gpus(void **state)
{
    (void)state;
    static const double ranks[8] = { 0, 0, 0, 9 };
    struct plan_case *s = hgx(1);
    plan_case_gpus(s, "3");
    s->request.nic_ranks = ranks;
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "3");
    assert_null(strstr(s->plan.reason, "; other"));
    plan_case_free(s);
}

/* --- the matching ----------------------------------------------------------------------------- */

/* Sets what is used for one random problem, and returns it. */
static void random_problem(struct oracle *o, bool *allowed, unsigned users, unsigned machines)
{
    *o = (struct oracle){ .users = users, .machines = machines };
    for (unsigned u = 0; u < users; u++) {
        unsigned must = (unsigned)random() % machines;
        for (unsigned m = 0; m < machines; m++)
            o->allowed[u][m] = allowed[u * machines + m] = m == must || random() % 4 == 0;
    }
}

static void test_matching(void **state)
{
    (void)state;
    srandom(4);
    for (unsigned round = 0; round < 3000; round++) {
        unsigned users = 1 + (unsigned)random() % 40, machines = 1 + (unsigned)random() % 12;
        bool allowed[64 * 64];
        double weight[64], rate[64], load[64] = { 0 };
        uint32_t machine_of_user[64];
        struct oracle o;
        random_problem(&o, allowed, users, machines);
        for (unsigned i = 0; i < 64; i++)
            weight[i] = rate[i] = 1;
        struct nuioa_rail_match match = {
            .user_count = users,
            .machine_count = machines,
            .allowed = allowed,
            .weight = weight,
            .rate = rate,
            .load = load,
            .machine_of = machine_of_user,
        };
        assert_int_equal(nuioa_rail_match(&match), 0);
        double most = 0, sum = 0;
        for (unsigned m = 0; m < machines; m++) {
            most = load[m] > most ? load[m] : most;
            sum += load[m];
        }
        for (unsigned u = 0; u < users; u++)
            assert_true(allowed[u * machines + machine_of_user[u]]);
        assert_true(sum == users);
        assert_int_equal((unsigned)most, least_load(&o));
    }
}

/* With any weights, nobody shares a machine while another one that it may use is idle. */
static void test_matching_leaves_nobody_idle(void **state)
{
    (void)state;
    srandom(5);
    for (unsigned round = 0; round < 3000; round++) {
        unsigned users = 1 + (unsigned)random() % 12, machines = 1 + (unsigned)random() % 12;
        bool allowed[64 * 64];
        double weight[64], rate[64], load[64] = { 0 };
        uint32_t machine_of_user[64];
        unsigned count[64] = { 0 };
        struct oracle o;
        random_problem(&o, allowed, users, machines);
        for (unsigned i = 0; i < 64; i++) {
            weight[i] = 1 + (double)(random() % 100);
            rate[i] = 1;
        }
        struct nuioa_rail_match match = {
            .user_count = users,
            .machine_count = machines,
            .allowed = allowed,
            .weight = weight,
            .rate = rate,
            .load = load,
            .machine_of = machine_of_user,
        };
        assert_int_equal(nuioa_rail_match(&match), 0);
        for (unsigned u = 0; u < users; u++)
            count[machine_of_user[u]]++;
        for (unsigned u = 0; u < users; u++)
            for (unsigned m = 0; m < machines; m++)
                if (allowed[u * machines + m] && !count[m] && count[machine_of_user[u]] > 1)
                    fail_msg("round %u: user %u shares, and machine %u is idle", round, u, m);
    }
}

/* Thousands of ranks take a limited number of steps: this test ends. */
static void test_many_users(void **state)
{
    (void)state;
    enum { USERS = 4096, MACHINES = 64 };
    bool *allowed = calloc((size_t)USERS * MACHINES, sizeof(*allowed));
    double *weight = calloc(USERS, sizeof(*weight)), rate[MACHINES], load[MACHINES] = { 0 };
    uint32_t *result = calloc(USERS, sizeof(*result));
    assert_true(allowed && weight && result);
    for (unsigned m = 0; m < MACHINES; m++)
        rate[m] = 1;
    for (unsigned u = 0; u < USERS; u++) {
        weight[u] = 1 + u % 7;
        /* most may use the first quarter only */
        for (unsigned m = 0; m < (u % 5 ? MACHINES / 4 : MACHINES); m++)
            allowed[u * MACHINES + m] = true;
    }
    struct nuioa_rail_match match = {
        .user_count = USERS,
        .machine_count = MACHINES,
        .allowed = allowed,
        .weight = weight,
        .rate = rate,
        .load = load,
        .machine_of = result,
    };
    assert_int_equal(nuioa_rail_match(&match), 0);
    for (unsigned u = 0; u < USERS; u++)
        assert_true(allowed[u * MACHINES + result[u]]);
    free(allowed);
    free(weight);
    free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpus_in_any_order),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_several_gpus_a_rank),
        cmocka_unit_test(test_augmenting_path),
        cmocka_unit_test(test_random_paths),
        cmocka_unit_test(test_unknown_paths),
        cmocka_unit_test(test_unknown_gpus),
        cmocka_unit_test(test_each_knows_its_own),
        cmocka_unit_test(test_each_knows_its_own_of_any),
        cmocka_unit_test(test_a_gpu_far_from_all),
        cmocka_unit_test(test_weight_of_several_gpus),
        cmocka_unit_test(test_a_gpu_that_is_not_there),
        cmocka_unit_test(test_rails),
        cmocka_unit_test(test_rails_farther_away),
        cmocka_unit_test(test_rails_of_gpus),
        cmocka_unit_test(test_fewer_rails_than_gpus),
        cmocka_unit_test(test_ports_of_cards),
        cmocka_unit_test(test_port_beside_a_free_gpu),
        cmocka_unit_test(test_rails_by_weight),
        cmocka_unit_test(test_unlike_rates),
        cmocka_unit_test(test_other_steps_and_nic),
        cmocka_unit_test(test_other_steps),
        cmocka_unit_test(test_other_steps_and_gpus),
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_matching_leaves_nobody_idle),
        cmocka_unit_test(test_many_users),
    };
    return cmocka_run_group_tests_name("rail_assign", tests, NULL, NULL);
}
