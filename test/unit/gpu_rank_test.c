/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/request.h"
#include "unit.h"

TEST(test_rules)
{
    assert_false(nuioa_gpu_rank_is_rule(NUIOA_GPU_AUTO));
    assert_false(nuioa_gpu_rank_is_rule(NUIOA_GPU_FOLLOW));
    assert_false(nuioa_gpu_rank_is_rule(NUIOA_GPU_KEEP));
    assert_true(nuioa_gpu_rank_is_rule(NUIOA_GPU_LOCAL_RANK));
    assert_true(nuioa_gpu_rank_is_rule(NUIOA_GPU_LOCAL_RANK_BLOCK));
}

/* Checks the places of `tasks` ranks among `count` GPUs: a digit each. */
static void places(enum nuioa_gpu_mode mode, uint32_t count, uint32_t tasks, const char *wanted)
{
    char text[16] = "";
    for (uint32_t i = 0; i < tasks; i++)
        text[i] = (char)('0' + nuioa_gpu_rank_place(mode, count, i, tasks));
    assert_string_equal(text, wanted);
}

TEST(test_places)
{
    places(NUIOA_GPU_LOCAL_RANK, 6, 6, "012345");
    places(NUIOA_GPU_LOCAL_RANK, 6, 3, "012");
    places(NUIOA_GPU_LOCAL_RANK, 4, 10, "0123012301");
    places(NUIOA_GPU_LOCAL_RANK_BLOCK, 6, 6, "012345");
    places(NUIOA_GPU_LOCAL_RANK_BLOCK, 6, 3, "024");
    places(NUIOA_GPU_LOCAL_RANK_BLOCK, 4, 8, "00112233");
    places(NUIOA_GPU_LOCAL_RANK_BLOCK, 4, 10, "0001122233");
    assert_int_equal(
        nuioa_gpu_rank_place(NUIOA_GPU_LOCAL_RANK_BLOCK, UINT32_MAX, UINT32_MAX - 1, UINT32_MAX),
        UINT32_MAX - 1);
}
