/* SPDX-License-Identifier: BSD-3-Clause */

#include "spank/srun/allocator.h"
#include "spank/slurmd.h"
#include "spank/srun/srun.h"
#include "spank/stepd/stepd.h"
#include "spank/task/task.h"
#include "util/clock.h"

/* Slurm's entry points. srun, sbatch, salloc, slurmstepd and slurmd load this plugin and call the
 * same functions; each of them calls the function for the program that it runs in. Every hook
 * returns success, because in slurmstepd a failure would end the launch or drain the node. */

SPANK_PLUGIN(nuioa, 1)

/* srun uses the first context, slurmstepd the second. */
static struct flags flags;
static struct srun_context srun = { .flags = &flags };
static struct stepd_context stepd = { .flags = &flags };

static int on_flag(int index, const char *value, int remote)
{
    if (remote) {
        flags_take(&flags, index, value);
        return 0;
    }
    flags_join(&flags, index, value);
    srun_check_flag(index, flags.typed[index] ? flags.typed[index] : flags_value(index, value));
    return 0;
}

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
    switch (spank_context()) {
    case S_CTX_LOCAL:
    case S_CTX_ALLOCATOR:
        flags_adopt_inherited();
        flags_register(spank, on_flag);
        break;
    case S_CTX_REMOTE: flags_register(spank, on_flag); break;
    case S_CTX_SLURMD: slurmd_init(argc, argv); break;
    default: break;
    }
    return ESPANK_SUCCESS;
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
    int64_t start = nuioa_clock_us();
    switch (spank_context()) {
    case S_CTX_LOCAL:
        srun_init_post_opt(&srun, argc, argv);
        flags.component_over = true;
        break;
    case S_CTX_ALLOCATOR:
        allocator_init_post_opt(&flags, spank);
        flags.component_over = true;
        break;
    case S_CTX_REMOTE: stepd_init_post_opt(&stepd, spank, argc, argv); break;
    default: break;
    }
    stepd.times.init_us = (uint32_t)(nuioa_clock_us() - start);
    return ESPANK_SUCCESS;
}

int slurm_spank_local_user_init(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    srun_user_init(&srun, spank);
    return ESPANK_SUCCESS;
}

int slurm_spank_user_init(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    stepd_user_init(&stepd, spank);
    return ESPANK_SUCCESS;
}

int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    int64_t start = nuioa_clock_us();
    stepd_task_post_fork(&stepd, spank);
    stepd.times.last_fork_us = (uint32_t)(nuioa_clock_us() - start);
    stepd.times.fork_us += stepd.times.last_fork_us;
    return ESPANK_SUCCESS;
}

int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    int64_t start = nuioa_clock_us();
    uint32_t *spent = task_init(&stepd, spank);
    if (spent)
        *spent = (uint32_t)(nuioa_clock_us() - start);
    return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t spank, int argc, char **argv)
{
    (void)spank, (void)argc, (void)argv;
    if (spank_context() == S_CTX_REMOTE)
        stepd_exit(&stepd);
    else if (spank_context() == S_CTX_LOCAL)
        srun_exit(&srun);
    flags_free(&flags);
    return ESPANK_SUCCESS;
}
