/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact_matching.h"
#include "gpu_machine.h"
#include "unit.h"

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

/* Plans a step of one rank with this GPU. */
static void start(struct batch *b, unsigned gpu)
{
    struct plan_case *s = machine_of(b);
    char text[12];
    sprintf(text, "%u", gpu);
    plan_case_gpus(s, text);
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

/* If each GPU has its first NIC for itself, no further NIC is shared either. */
static void check_further(const struct batch *b)
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
}

static void start_all(struct batch *b)
{
    for (unsigned g = 0; g < b->gpus; g++)
        start(b, g);
    check(b);
    check_further(b);
}

TEST(test_shapes)
{
    srandom(7);
    for (unsigned i = 0; i < GPU_SHAPES; i++) {
        const struct gpu_shape *shape = &gpu_shapes[i];
        struct batch b = { .name = shape->name, .gpus = shape->gpus, .nics = shape->nics };
        struct plan_case *s = gpu_machine(shape, 1);
        for (unsigned g = 0; g < b.gpus; g++)
            for (unsigned n = 0; n < b.nics; n++)
                b.path[g][n] = s->node.paths[g * b.nics + n];
        start_all(&b);
    }
}

TEST(test_any_paths)
{
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
TEST(test_kth)
{
    struct batch b = { .name = "two switches", .gpus = 6, .nics = 7 };
    for (unsigned g = 0; g < b.gpus; g++)
        for (unsigned n = 0; n < b.nics; n++)
            b.path[g][n] = n && g / 3 == (n - 1) / 3 ? NUIOA_PATH_PXB : NUIOA_PATH_NODE;
    for (unsigned g = 0; g < b.gpus; g++) {
        start(&b, g);
        assert_int_equal(b.first[g], g + 1);
    }
}

/* GPUs that outnumber the NICs of their switch take them in turn. */
TEST(test_fewer_nics)
{
    struct batch b = { .name = "four GPUs, two NICs", .gpus = 4, .nics = 2 };
    for (unsigned g = 0; g < b.gpus; g++)
        for (unsigned n = 0; n < b.nics; n++)
            b.path[g][n] = NUIOA_PATH_PIX;
    for (unsigned g = 0; g < b.gpus; g++) {
        start(&b, g);
        assert_int_equal(b.first[g], g % 2);
    }
}

/* Two ranks of one step share no NIC for a third GPU's sake. */
TEST(test_one_step)
{
    const struct gpu_shape shape = { "", 1, 4, 2, 1, NUIOA_PATH_PIX };
    struct plan_case *s = gpu_machine(&shape, 2);
    plan_case_gpus(s, "0;2");
    plan_case_make(s);
    assert_string_equal(plan_case_nics(s), "0,1");
    plan_case_gpus(s, "3;2");
    plan_case_make(s);
    assert_string_equal(plan_case_nics(s), "1,0");
}
