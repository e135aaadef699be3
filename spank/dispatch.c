/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>

#include "spank/common/other_launcher.h"
#include "spank/slurmd.h"
#include "spank/srun/srun.h"
#include "spank/stepd/stepd.h"
#include "spank/task/task.h"
#include "util/clock.h"

/* Slurm's entry points. srun, sbatch, salloc, slurmstepd and slurmd load this plugin and call the
 * same functions; each of them calls the function for the program that it runs in. Every hook
 * returns success, because in slurmstepd a failure would end the launch or drain the node. */

SPANK_PLUGIN(nuioa, 1)

/* What srun and slurmstepd keep from init_post_opt to exit; NULL in other programs, and where there
 * was no memory for it: the hooks then do nothing. */
static struct flags flags;
static struct srun_context *srun;
static struct step_run *stepd;
static struct step_facts *facts; /* where `stepd` is not NULL */

static int on_flag(int index, const char *value, int remote)
{
    if (remote) {
        flags_take(&flags, index, value);
        return 0;
    }
    flags_join(&flags, index, value);
    if (!srun_check_flag(index, flags_typed(&flags, index, value)))
        flags_drop(&flags, index);
    return 0;
}

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
    switch (spank_context()) {
    case S_CTX_LOCAL:
    case S_CTX_ALLOCATOR:
    case S_CTX_REMOTE: flags_register(spank, on_flag); break;
    case S_CTX_SLURMD: slurmd_init(argc, argv); break;
    default: break;
    }
    return ESPANK_SUCCESS;
}

/* Called once for each component of a heterogeneous job. */
static void begin_srun(int argc, char **argv)
{
    if (!srun)
        srun = calloc(1, sizeof(*srun));
    if (!srun)
        return;
    srun->flags = &flags;
    srun_init_post_opt(srun, argc, argv);
    flags.component_over = true;
}

static void begin_stepd(spank_t spank, int argc, char **argv)
{
    int64_t start = nuioa_clock_us();
    facts = calloc(1, sizeof(*facts));
    stepd = facts ? calloc(1, sizeof(*stepd)) : NULL;
    if (!stepd)
        return;
    stepd->flags = &flags;
    stepd_init_post_opt(stepd, facts, spank, argc, argv);
    stepd->times.init_us = (uint32_t)(nuioa_clock_us() - start);
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
    switch (spank_context()) {
    case S_CTX_LOCAL: begin_srun(argc, argv); break;
    case S_CTX_ALLOCATOR:
        /* Each srun inside the allocation reads the other option sources itself. */
        srun_check_hints(&flags);
        flags_export(&flags, spank);
        other_launcher_in_salloc();
        flags.component_over = true;
        break;
    case S_CTX_REMOTE: begin_stepd(spank, argc, argv); break;
    default: break;
    }
    return ESPANK_SUCCESS;
}

int slurm_spank_local_user_init(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    if (srun)
        srun_user_init(srun, spank);
    return ESPANK_SUCCESS;
}

int slurm_spank_user_init(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    if (stepd)
        stepd_user_init(stepd, spank);
    return ESPANK_SUCCESS;
}

int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    int64_t start = nuioa_clock_us();
    if (stepd) {
        stepd_task_post_fork(stepd, spank);
        stepd->times.last_fork_us = (uint32_t)(nuioa_clock_us() - start);
        stepd->times.fork_us += stepd->times.last_fork_us;
    }
    return ESPANK_SUCCESS;
}

int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
    (void)argc, (void)argv;
    int64_t start = nuioa_clock_us();
    uint32_t *spent = stepd ? task_init(stepd, spank) : NULL;
    if (spent)
        *spent = (uint32_t)(nuioa_clock_us() - start);
    return ESPANK_SUCCESS;
}

int slurm_spank_task_exit(spank_t spank, int argc, char **argv)
{
    (void)spank, (void)argc, (void)argv;
    if (stepd)
        stepd_task_exit(stepd);
    return ESPANK_SUCCESS;
}

int slurm_spank_exit(spank_t spank, int argc, char **argv)
{
    (void)spank, (void)argc, (void)argv;
    if (stepd)
        stepd_exit(stepd, facts);
    if (srun)
        srun_exit(srun);
    free(stepd);
    free(facts);
    free(srun);
    stepd = NULL;
    facts = NULL;
    srun = NULL;
    flags_free(&flags);
    return ESPANK_SUCCESS;
}
