/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/launcher.h"

#include <stddef.h>

/* Read in the sources and documents of each:
 * openmpi   Open MPI, "Environment variables set for MPI applications"
 * hydra     MPICH, src/pm/hydra/proxy; Intel MPI's mpirun is a hydra, too
 * mvapich   MVAPICH2, src/pm/mpirun/mpispawn.c of mpirun_rsh
 * pals      HPE, mpiexec(1) of PALS; Cray PMI adds PMI_LOCAL_SIZE and PMI_SIZE, and is alone where
 *           PALS does not say the size
 * torchrun  PyTorch, "torchrun (Elastic Launch)"; accelerate launch starts it; Ray Train sets the
 *           same for its workers
 * deepspeed DeepSpeed, deepspeed/launcher/launch.py; nodes with unlike numbers of ranks do not have
 *           rank - local rank as their first one
 * flux      Flux, flux-environment(7)
 * jsm       IBM, jsrun(1), where each resource set has CPUs of its own
 * slurm     srun(1)
 * pmix      the PMIx standard */
/* clang-format off */
const struct launcher launcher_table[] = {
    { .name = "openmpi", .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
      .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE", .rank = "OMPI_COMM_WORLD_RANK",
      .size = "OMPI_COMM_WORLD_SIZE", .spawned = "OMPI_PARENT_PORT" },
    { .name = "hydra", .local_rank = "MPI_LOCALRANKID", .local_size = "MPI_LOCALNRANKS",
      .rank = "PMI_RANK", .size = "PMI_SIZE", .spawned = "PMI_SPAWNED" },
    { .name = "mvapich", .local_rank = "MV2_COMM_WORLD_LOCAL_RANK",
      .local_size = "MV2_COMM_WORLD_LOCAL_SIZE", .rank = "MV2_COMM_WORLD_RANK",
      .size = "MV2_COMM_WORLD_SIZE" },
    { .name = "pals", .local_rank = "PALS_LOCAL_RANKID", .local_size = "PALS_LOCAL_SIZE",
      .local_size_too = "PMI_LOCAL_SIZE", .rank = "PALS_RANKID", .size = "PMI_SIZE" },
    { .name = "torchrun", .local_rank = "LOCAL_RANK", .local_size = "LOCAL_WORLD_SIZE",
      .rank = "RANK", .size = "WORLD_SIZE", .nodes = "GROUP_WORLD_SIZE",
      .order = LAUNCHER_BLOCKS, .gpu_by_rank = true },
    { .name = "deepspeed", .local_rank = "LOCAL_RANK", .local_size = "LOCAL_SIZE",
      .rank = "RANK", .size = "WORLD_SIZE", .nodes = "CROSS_SIZE",
      .order = LAUNCHER_EQUAL_BLOCKS, .gpu_by_rank = true, .sized = true },
    { .name = "flux", .local_rank = "FLUX_TASK_LOCAL_ID", .rank = "FLUX_TASK_RANK",
      .size = "FLUX_JOB_SIZE", .nodes = "FLUX_JOB_NNODES",
      .size_from = "FLUX_JOB_NNODES=1 with FLUX_JOB_SIZE" },
    { .name = "jsm", .local_rank = "JSM_NAMESPACE_LOCAL_RANK",
      .local_size = "JSM_NAMESPACE_LOCAL_SIZE", .rank = "JSM_NAMESPACE_RANK",
      .size = "JSM_NAMESPACE_SIZE", .divides = true },
    { .name = "slurm", .local_rank = "SLURM_LOCALID", .rank = "SLURM_PROCID",
      .size = "SLURM_STEP_NUM_TASKS", .last_resort = true,
      .size_from = "SLURM_GTIDS or SLURM_STEP_TASKS_PER_NODE" },
    { .name = "pmix", .rank = "PMIX_RANK", .last_resort = true },
    { .name = NULL },
};
/* clang-format on */
