/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/environment.h"
#include "plan_case.h"
#include "unit.h"

/* A rank that sees several GPUs is told the NICs of each. */

/* What the rank finds in NUIOA_GPU_NICS; "-": nothing. */
static const char *told(struct plan_case *s, unsigned local)
{
    static char env[16384];
    assert_true(nuioa_environment(&s->plan, &s->node, &s->options, local, env, sizeof(env)) > 0);
    const char *value = plan_case_variable(env, "NUIOA_GPU_NICS");
    return value ? value : "-";
}

/* Two NUMA nodes of two GPUs and two NICs each; a switch joins those of the first one. */
static struct plan_case *make_case(const char *gpus)
{
    struct plan_case *s = plan_case_new();
    machine_quad(&s->node);
    for (unsigned i = 0; i < 4; i++)
        machine_gpu(&s->node, i < 2 ? 1 : 3);
    for (unsigned g = 0; g < 4; g++)
        for (unsigned n = 0; n < s->node.nic_count; n++)
            machine_path(&s->node, g, n, g / 2 == n ? NUIOA_PATH_PIX : NUIOA_PATH_SYS);
    plan_case_on(s, 2, 8);
    plan_case_gpus(s, gpus);
    plan_case_make(s);
    return s;
}

TEST(test_who_is_told)
{
    struct plan_case *s = make_case("?0,1,2,3;?0,2");
    assert_string_equal(told(s, 0), "0000:10:00.0=mlx5_0:1;0000:11:00.0=mlx5_0:1;"
                                    "0000:12:00.0=mlx5_1:1;0000:13:00.0=mlx5_1:1");
    assert_string_equal(told(s, 1), "0000:10:00.0=mlx5_0:1;0000:12:00.0=mlx5_1:1");
    plan_case_option(s, "export", "none");
    assert_string_equal(told(s, 1), "-");
    s = make_case("0;1,2"); /* known */
    assert_string_equal(told(s, 0), "-");
    assert_string_equal(told(s, 1), "-");
    s = make_case("?;?"); /* nobody knows what it sees */
    assert_string_equal(told(s, 0), "-");
}

/* GPUs with the same nearest NICs begin with different ones. */
TEST(test_equal_nics)
{
    struct plan_case *s = make_case("?0,1,2;?");
    char text[256];
    uint32_t all[] = { 0, 1, 2, 3 };
    for (unsigned g = 0; g < 3; g++)
        for (unsigned n = 0; n < 2; n++)
            machine_path(&s->node, g, n, NUIOA_PATH_PXB);
    assert_string_equal(nuioa_gpu_nics_text(&s->plan.usable, &s->node, all, 4, text, sizeof(text)),
                        "0000:10:00.0=mlx5_0:1+mlx5_1:1;0000:11:00.0=mlx5_1:1+mlx5_0:1;"
                        "0000:12:00.0=mlx5_0:1+mlx5_1:1;0000:13:00.0=mlx5_1:1");
    /* What does not fit is not told by half. */
    for (size_t size = 1; size <= strlen(text); size++) {
        char cut[256];
        assert_null(nuioa_gpu_nics_text(&s->plan.usable, &s->node, all, 4, cut, size));
    }
    assert_null(nuioa_gpu_nics_text(&s->plan.usable, &s->node, all, 0, text, sizeof(text)));
}

/* Where no path is known, the NUMA node tells; where that is not known either, nothing does. */
TEST(test_no_path)
{
    struct plan_case *s = make_case("?0,1,2,3;?");
    char text[256];
    uint32_t all[] = { 0, 3 };
    memset(s->node.paths, NUIOA_PATH_UNKNOWN, (size_t)s->node.gpu_count * s->node.nic_count);
    assert_string_equal(nuioa_gpu_nics_text(&s->plan.usable, &s->node, all, 2, text, sizeof(text)),
                        "0000:10:00.0=mlx5_0:1;0000:13:00.0=mlx5_1:1");
    hwloc_bitmap_zero(s->node.gpus[0].numas);
    assert_string_equal(nuioa_gpu_nics_text(&s->plan.usable, &s->node, all, 2, text, sizeof(text)),
                        "0000:13:00.0=mlx5_1:1");
}
