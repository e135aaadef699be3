/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/rank_id.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/hash.h"
#include "util/variable.h"

void nuioa_rank_id(char *const *environment, char id[NUIOA_RANK_ID_SIZE])
{
    static const char *const names[] = {
        "PMIX_NAMESPACE",      "PMIX_RANK",          "PMI_RANK",    "OMPI_COMM_WORLD_RANK",
        "MV2_COMM_WORLD_RANK", "PALS_RANKID",        "RANK",        "LOCAL_RANK",
        "TORCHELASTIC_RUN_ID", "JSM_NAMESPACE_RANK", "FLUX_JOB_ID", "FLUX_TASK_RANK",
        "SLURM_JOB_ID",        "SLURM_STEP_ID",      "SLURM_PROCID"
    };
    uint64_t hash = NUIOA_HASH_START;
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *value = nuioa_variable(environment, names[i]);
        hash = nuioa_hash_text(nuioa_hash_u32(hash, value != NULL), value ? value : "");
    }
    snprintf(id, NUIOA_RANK_ID_SIZE, "%016" PRIx64, hash);
}
