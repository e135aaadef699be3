/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/gpu_count.h"
#include "unit.h"

#define GIVEN(...) \
    nuioa_gpus_given((char *const *)(const char *const[]){ "HOME=/", __VA_ARGS__, NULL })

TEST(test_vendors)
{
    assert_int_equal(GIVEN("CUDA_VISIBLE_DEVICES=0"), NUIOA_GPUS_ONE);
    assert_int_equal(GIVEN("CUDA_VISIBLE_DEVICES=GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"),
                     NUIOA_GPUS_ONE);
    assert_int_equal(GIVEN("CUDA_VISIBLE_DEVICES=MIG-GPU-8932f937/1/0"), NUIOA_GPUS_ONE);
    assert_int_equal(GIVEN("CUDA_VISIBLE_DEVICES=0,1"), NUIOA_GPUS_SEVERAL);
    assert_int_equal(GIVEN("CUDA_VISIBLE_DEVICES=GPU-89,GPU-90"), NUIOA_GPUS_SEVERAL);
    assert_int_equal(GIVEN("ROCR_VISIBLE_DEVICES=10-13"), NUIOA_GPUS_SEVERAL);
    assert_int_equal(GIVEN("HIP_VISIBLE_DEVICES=3"), NUIOA_GPUS_ONE);
    assert_int_equal(GIVEN("ZE_AFFINITY_MASK=0.0,0.1"), NUIOA_GPUS_SEVERAL);
    assert_int_equal(GIVEN("GPU_DEVICE_ORDINAL=0,1", "CUDA_VISIBLE_DEVICES=0"), NUIOA_GPUS_SEVERAL);
}

TEST(test_none)
{
    assert_int_equal(nuioa_gpus_given(NULL), NUIOA_GPUS_UNKNOWN);
    assert_int_equal(GIVEN("XCUDA_VISIBLE_DEVICES=0", "CUDA_VISIBLE_DEVICES_2=0"),
                     NUIOA_GPUS_UNKNOWN);
    assert_int_equal(GIVEN("CUDA_VISIBLE_DEVICES="), NUIOA_GPUS_NONE);
    assert_int_equal(GIVEN("CUDA_VISIBLE_DEVICES=NoDevFiles"), NUIOA_GPUS_NONE);
    assert_int_equal(GIVEN("SLURM_GPUS_ON_NODE=0"), NUIOA_GPUS_NONE);
    assert_int_equal(GIVEN("SLURM_GPUS_ON_NODE=many"), NUIOA_GPUS_UNKNOWN);
}

/* A task's own count before the step's. */
TEST(test_step)
{
    assert_int_equal(GIVEN("SLURM_STEP_GPUS=0,1", "CUDA_VISIBLE_DEVICES=1", "SLURM_GPUS_ON_NODE=2"),
                     NUIOA_GPUS_ONE);
    assert_int_equal(GIVEN("SLURM_STEP_GPUS=1", "SLURM_GPUS_ON_NODE=4"), NUIOA_GPUS_ONE);
    assert_int_equal(GIVEN("SLURM_STEP_GPUS=0,1"), NUIOA_GPUS_SEVERAL);
    assert_int_equal(GIVEN("CUDA_VISIBLE_DEVICES=", "SLURM_STEP_GPUS=0,1"), NUIOA_GPUS_SEVERAL);
    assert_int_equal(GIVEN("SLURM_GPUS_ON_NODE=1"), NUIOA_GPUS_ONE);
    assert_int_equal(GIVEN("SLURM_GPUS_ON_NODE=4"), NUIOA_GPUS_SEVERAL);
}

#define STEP(...) \
    nuioa_gpus_of_step((char *const *)(const char *const[]){ "HOME=/", __VA_ARGS__, NULL })

TEST(test_of_the_step)
{
    assert_int_equal(nuioa_gpus_of_step(NULL), 0);
    assert_int_equal(STEP("CUDA_VISIBLE_DEVICES=0,1"), 0);
    assert_int_equal(STEP("SLURM_STEP_GPUS=0,1,7"), 3);
    assert_int_equal(STEP("SLURM_STEP_GPUS=0,4-7"), 5);
    assert_int_equal(STEP("SLURM_STEP_GPUS="), 0);
    assert_int_equal(STEP("SLURM_STEP_GPUS=0,x"), 0);
    assert_int_equal(STEP("SLURM_STEP_GPUS=7-0"), 0);
    assert_int_equal(STEP("SLURM_STEP_GPUS=0-"), 0);
    assert_int_equal(STEP("SLURM_GPUS_ON_NODE=4"), 4);
    assert_int_equal(STEP("SLURM_GPUS_ON_NODE=4x"), 0);
    /* In a task that Slurm has bound the list may be its own. */
    assert_int_equal(STEP("SLURM_STEP_GPUS=0,1", "SLURM_GPUS_ON_NODE=4"), 4);
}
