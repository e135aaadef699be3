/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exact_matching.h"
#include "gpu_machine.h"
#include "machine.h"

/* Steps of one GPU each that start together: they do not see each other, and yet no two of them
 * take one NIC while another one is as near and idle. */

enum { GPUS = 8, NICS = 32 };

/* A machine, and what its steps chose, by GPU. */
struct batch {
    const char *name;
    unsigned gpus, nics;
    unsigned path[GPUS][NICS];
    uint32_t first[GPUS];
    bool has[GPUS][NICS];
};

static struct plan_case *machine_of(const struct batch *b)
{
    const struct gpu_shape shape = { "", 2, b->gpus, b->nics, 1, NUIOA_PATH_PIX };
    struct plan_case *s = gpu_machine(&shape, 1);
    for (unsigned g = 0; g < b->gpus; g++)
        for (unsigned n = 0; n < b->nics; n++)
            machine_path(&s->node, g, n, b->path[g][n]);
    plan_case_option(s, "rails", "auto,connected");
    return s;
}

/* Plans a step of one rank with this GPU, while other steps have ranks[] on the NICs. */
static void start(struct batch *b, unsigned gpu, const double *ranks)
{
    struct plan_case *s = machine_of(b);
    char text[12];
    sprintf(text, "%u", gpu);
    plan_case_gpus(s, text);
    s->request.nic_ranks = ranks;
    plan_case_make(s);
    b->first[gpu] = (uint32_t)s->plan.assignments[0].nic;
    memset(b->has[gpu], 0, sizeof(b->has[gpu]));
    for (unsigned k = 0; k < s->plan.assignments[0].nic_count; k++)
        b->has[gpu][s->plan.assignments[0].nics[k]] = true;
    plan_case_free(s);
}

/* Returns true if no NIC is nearer to the GPU. */
static bool is_near(const struct batch *b, unsigned gpu, unsigned nic)
{
    for (unsigned n = 0; n < b->nics; n++)
        if (b->path[gpu][n] < b->path[gpu][nic])
            return false;
    return true;
}

/* Compares with the best that any choice of a nearest NIC for each GPU can do. */
static void check(const struct batch *b)
{
    struct exact_matching o = { .users = b->gpus, .machines = b->nics };
    unsigned load[NICS] = { 0 }, used = 0, most = 0;
    for (unsigned g = 0; g < b->gpus; g++)
        for (unsigned n = 0; n < b->nics; n++)
            o.allowed[g][n] = is_near(b, g, n);
    for (unsigned g = 0; g < b->gpus; g++) {
        if (!o.allowed[g][b->first[g]])
            fail_msg("%s: GPU %u: NIC %u is not the nearest", b->name, g, b->first[g]);
        used += !load[b->first[g]]++;
        most = load[b->first[g]] > most ? load[b->first[g]] : most;
    }
    if (used != exact_matching_most(&o, 1) || most != exact_matching_least_load(&o))
        fail_msg("%s: %u NICs with up to %u steps, but %u and %u are possible", b->name, used, most,
                 exact_matching_most(&o, 1), exact_matching_least_load(&o));
}

/* Returns true if each GPU has its first NIC for itself. Then no further NIC is shared either. */
static bool check_further(const struct batch *b)
{
    bool alone = true;
    for (unsigned g = 0; g < b->gpus; g++)
        for (unsigned other = 0; other < g; other++)
            alone = alone && b->first[g] != b->first[other];
    for (unsigned n = 0; alone && n < b->nics; n++) {
        unsigned users = 0;
        for (unsigned g = 0; g < b->gpus; g++)
            users += b->has[g][n];
        if (users > 1)
            fail_msg("%s: %u steps have NIC %u", b->name, users, n);
    }
    return alone;
}

/* Starts all steps, in 20 batches: first on an idle node, then while some of those that ended are
 * still there and some of this batch are there already. */
static void start_all(struct batch *b)
{
    for (unsigned g = 0; g < b->gpus; g++)
        start(b, g, NULL);
    check(b);
    if (!check_further(b))
        return;
    const struct batch idle = *b;
    for (unsigned batch = 0; batch < 20; batch++)
        for (unsigned g = 0; g < b->gpus; g++) {
            double ranks[NICS] = { 0 };
            for (unsigned other = 0; other < b->gpus; other++)
                for (unsigned n = 0; n < b->nics; n++)
                    ranks[n] += b->has[other][n] && random() % 2;
            start(b, g, ranks);
            assert_int_equal(b->first[g], idle.first[g]);
        }
    check(b);
    check_further(b);
}

static void test_shapes(void **state)
{
    (void)state;
    srandom(7);
    for (unsigned i = 0; i < GPU_SHAPES; i++) {
        const struct gpu_shape *shape = &gpu_shapes[i];
        struct batch b = { .name = shape->name, .gpus = shape->gpus, .nics = shape->nics };
        struct plan_case *s = gpu_machine(shape, 1);
        for (unsigned g = 0; g < b.gpus; g++)
            for (unsigned n = 0; n < b.nics; n++)
                b.path[g][n] = s->node.paths[g * b.nics + n];
        plan_case_free(s);
        start_all(&b);
    }
}

static void test_any_paths(void **state)
{
    (void)state;
    srandom(8);
    for (unsigned round = 0; round < 200; round++) {
        struct batch b = { .name = "paths by chance" };
        b.gpus = 1 + (unsigned)random() % GPUS;
        b.nics = 1 + (unsigned)random() % 10;
        for (unsigned g = 0; g < b.gpus; g++)
            for (unsigned n = 0; n < b.nics; n++)
                b.path[g][n] = random() % 3 ? NUIOA_PATH_SYS : NUIOA_PATH_PXB;
        start_all(&b);
    }
}

/* The k-th GPU of a switch takes its k-th NIC, whatever its number on the node. */
static void test_kth(void **state)
{
    (void)state;
    struct batch b = { .name = "two switches", .gpus = 6, .nics = 7 };
    for (unsigned g = 0; g < b.gpus; g++)
        for (unsigned n = 0; n < b.nics; n++)
            b.path[g][n] = n && g / 3 == (n - 1) / 3 ? NUIOA_PATH_PXB : NUIOA_PATH_NODE;
    for (unsigned g = 0; g < b.gpus; g++) {
        start(&b, g, NULL);
        assert_int_equal(b.first[g], g + 1);
    }
}

/* What others have on the NIC of another GPU does count. */
static void test_load_of_others(void **state)
{
    (void)state;
    const double ranks[NICS] = { 1, 0, 1 };
    struct batch b = { .name = "one NIC more", .gpus = 2, .nics = 3 };
    for (unsigned g = 0; g < b.gpus; g++)
        for (unsigned n = 0; n < b.nics; n++)
            b.path[g][n] = NUIOA_PATH_PIX;
    start(&b, 0, ranks);
    assert_int_equal(b.first[0], 0);
    struct batch c = { .name = "four GPUs, two NICs", .gpus = 4, .nics = 2 };
    for (unsigned g = 0; g < c.gpus; g++)
        for (unsigned n = 0; n < c.nics; n++)
            c.path[g][n] = NUIOA_PATH_PIX;
    start(&c, 2, ranks);
    assert_int_equal(c.first[2], 1);
    start(&c, 2, NULL);
    assert_int_equal(c.first[2], 0);
}

/* Two ranks of one step share no NIC for a third GPU's sake. */
static void test_one_step(void **state)
{
    (void)state;
    const struct gpu_shape shape = { "", 1, 4, 2, 1, NUIOA_PATH_PIX };
    struct plan_case *s = gpu_machine(&shape, 2);
    plan_case_gpus(s, "0;2");
    plan_case_make(s);
    assert_string_equal(plan_case_nics(s), "0,1");
    plan_case_gpus(s, "3;2");
    plan_case_make(s);
    assert_string_equal(plan_case_nics(s), "1,0");
    plan_case_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),   cmocka_unit_test(test_any_paths),
        cmocka_unit_test(test_kth),      cmocka_unit_test(test_load_of_others),
        cmocka_unit_test(test_one_step),
    };
    return cmocka_run_group_tests_name("rail_home", tests, NULL, NULL);
}
