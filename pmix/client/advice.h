/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_CLIENT_ADVICE_H
#define NUIOA_PMIX_CLIENT_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmix/client/gpu_nics.h"
#include "pmix/client/nuioa-client.h"

/* This header is private to pmix/client. It declares the advice that a process was given, whether
 * it was read from PMIx or from the environment. */

struct rank_list {
    size_t count;    /* 0: not known */
    uint32_t *ranks; /* [count], allocated by malloc; ranks in MPI_COMM_WORLD */
};

/* The advice. A member is what the function of nuioa-client.h with that name returns, unless its
 * comment says more. A struct of zeros is empty. It owns its lists and strings. */
struct nuioa_client {
    enum nuioa_client_source source;
    bool planned;                           /* the placement was not carried out */
    bool has_leader, has_level, has_weight; /* these members are known */
    uint32_t leader;                        /* rank that leads this node */
    uint32_t near;  /* how many ranks at the beginning of `order` are equally near; 0: not known */
    uint32_t level; /* this process's distance from its network port */
    double weight;  /* how much this process communicates */
    struct rank_list order;         /* all ranks of this node, the best leader first */
    struct rank_list rails;         /* the best rank for each network port in use */
    char *nic, *nics, *gpus, *cpus; /* allocated by malloc; NULL: not known */
    struct gpu_nics gpu_nics;       /* the network ports of GPUs that this process may choose */
};

/* Checks advice that was just read, of which `own` says whether it is surely of this process.
 * Empties it, and frees its members, if it contradicts itself, or if it is another process's: this
 * one's rank is not in `order`. Sets `near` to 1 if there is a leader and nobody has said how many
 * are as near, or if `order` is not known. */
void advice_check(struct nuioa_client *advice, bool own);

/* Lets the table of GPUs have the only GPU of this process, if that is known. Returns 0 or
 * -ENOMEM. */
int advice_name_only_gpu(struct nuioa_client *advice);

/* Frees what the advice holds, and empties it. The struct itself belongs to the caller. */
void advice_clear(struct nuioa_client *advice);

/* Reads this process's rank in MPI_COMM_WORLD from PMIX_RANK or else SLURM_PROCID. Returns true and
 * *rank; or false if neither is set, or the one that counts is no rank. */
bool advice_own_rank(uint32_t *rank);

/* --- sources --------------------------------------------------------------------------------- */

/* Reads nuioa's keys from PMIx into `advice`, which is empty before, and sets its source. Leaves it
 * empty if this process has not initialised PMIx or has one thread only, if PMIx does not answer a
 * question within 0.9 s, or has not in an earlier call, if there are no keys of nuioa, or if this
 * library was built without PMIx. Returns 0 in these cases too; or -ENOMEM. The caller frees the
 * advice with advice_clear, also after an error. */
int advice_from_pmix(struct nuioa_client *advice);

/* Reads the NUIOA_* variables of this process into `advice`, which is empty before, and sets its
 * source. Leaves it empty if there are none, or if they are of another launcher's process. Returns
 * 0 in these cases too; or -ENOMEM. The caller frees the advice with advice_clear, also after an
 * error. */
int advice_from_environment(struct nuioa_client *advice);

/* Returns true if `nuioa exec` has told this very rank what the variables say, also where another
 * launcher than srun has started it. */
bool advice_is_own(void);

/* Replaces what the advice says of GPUs and NICs by what `nuioa exec` has told this rank: it knew
 * more than the plugin, whose answers PMIx has. Returns 0 or -ENOMEM. */
int advice_devices_from_environment(struct nuioa_client *advice);

#endif
