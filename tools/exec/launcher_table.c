/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/launcher_table.h"

#include <stddef.h>

/* Sources: Open MPI's documentation, "Environment variables set for MPI applications"; MPICH,
 * the proxy of hydra, and the same names in Intel MPI; HPE, mpiexec(1) of PALS; PyTorch,
 * "torchrun (Elastic Launch)", whose agents give consecutive ranks, and whose programs take the GPU
 * number LOCAL_RANK; Flux, flux-environment(7); IBM, jsrun(1), where each resource set has CPUs of
 * its own; the PMIx standard; srun(1). */
/* clang-format off */
const struct launcher launcher_table[] = {
    { .name = "openmpi", .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK",
      .local_size = "OMPI_COMM_WORLD_LOCAL_SIZE", .rank = "OMPI_COMM_WORLD_RANK",
      .size = "OMPI_COMM_WORLD_SIZE" },
    { .name = "hydra", .local_rank = "MPI_LOCALRANKID", .local_size = "MPI_LOCALNRANKS",
      .rank = "PMI_RANK", .size = "PMI_SIZE" },
    { .name = "pals", .local_rank = "PALS_LOCAL_RANKID", .local_size = "PALS_LOCAL_SIZE",
      .rank = "PALS_RANKID" },
    { .name = "torchrun", .local_rank = "LOCAL_RANK", .local_size = "LOCAL_WORLD_SIZE",
      .rank = "RANK", .size = "WORLD_SIZE", .consecutive = true, .gpu_by_rank = true },
    { .name = "flux", .local_rank = "FLUX_TASK_LOCAL_ID", .rank = "FLUX_TASK_RANK",
      .size = "FLUX_JOB_SIZE" },
    { .name = "jsm", .local_rank = "JSM_NAMESPACE_LOCAL_RANK",
      .local_size = "JSM_NAMESPACE_LOCAL_SIZE", .rank = "JSM_NAMESPACE_RANK",
      .size = "JSM_NAMESPACE_SIZE", .divides = true },
    { .name = "slurm", .local_rank = "SLURM_LOCALID", .rank = "SLURM_PROCID",
      .size = "SLURM_STEP_NUM_TASKS" },
    { .name = "pmix", .rank = "PMIX_RANK" },
    { .name = NULL },
};
/* clang-format on */
