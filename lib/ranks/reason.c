/* SPDX-License-Identifier: BSD-3-Clause */
#include "ranks/reason.h"

#include <stddef.h>
#include <stdint.h>

/* One array, because a pointer for each text would be a relocation in every slurmstepd. */
static const struct texts {
#define NUIOA_REASON(name, text) char name[sizeof(text)];
#include "ranks/reason_list.h"
} texts = {
#define NUIOA_REASON(name, text) text,
#include "ranks/reason_list.h"
};

static const uint16_t offset[NUIOA_REASON_COUNT] = {
#define NUIOA_REASON(name, text) offsetof(struct texts, name),
#include "ranks/reason_list.h"
};

static const char *const advice_texts[NUIOA_ADVICE_COUNT] = {
    [NUIOA_ADVICE_MEMORY] =
        "ranks span NUMA nodes, so memory is where a thread first touches it. With one thread per "
        "rank, use srun --cpu-bind=cores",
    [NUIOA_ADVICE_THREADS] =
        "OpenMP threads are not bound. Use --nuioa-threads=on to bind each to a core, the first "
        "one nearest the NIC",
    [NUIOA_ADVICE_THREADS_NEED_C] =
        "threads=on ignored: the number of threads per rank is unknown. Use -c N with srun, sbatch "
        "or salloc, N above 1",
    [NUIOA_ADVICE_GPUS] =
        "all ranks see the same GPUs, one per rank. If local rank N uses GPU N, as in most "
        "programs, use --nuioa-gpus=local-rank",
    [NUIOA_ADVICE_GPUS_ORDER] =
        "gpus=local-rank ignored: GPU numbering is unknown. If GPUs are of several models, set "
        "CUDA_DEVICE_ORDER=PCI_BUS_ID",
    [NUIOA_ADVICE_NO_OWN_NIC] =
        "the rank has CPUs beside every NIC, so it gets none. Use srun --cpu-bind=cores, or "
        "--nuioa-rails=N",
    [NUIOA_ADVICE_GPUS_FAR] = "CPUs are far from GPUs: the step has no cores beside them. Use "
                              "--gres-flags=enforce-binding, or request whole nodes (--exclusive)",
    [NUIOA_ADVICE_CONNECTED] =
        "no NIC is set for UCX: InfiniBand's default prefix does not show whether the NICs reach "
        "each other. If they do, set rails=connected in plugstack.conf",
    [NUIOA_ADVICE_ROLES] =
        "no NIC is set for UCX: some may be for storage or management (see nuioa topo). Set "
        "nic_role=NAME:ROLE,... in plugstack.conf",
};

const char *nuioa_advice_text(enum nuioa_advice advice)
{
    return advice_texts[advice];
}

const char *nuioa_reason_text(enum nuioa_reason reason)
{
    return (const char *)&texts + offset[reason];
}
