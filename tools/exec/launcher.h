/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_LAUNCHER_H
#define NUIOA_TOOL_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"

/* The place of the calling process among those on its node. It is said by the environment that the
 * launcher made, or by what the user requested. */

#define LAUNCHER_TASKS_MAX 65536

/* Which ranks of the job a node has, as the launcher documents. LAUNCHER_EQUAL_BLOCKS: consecutive
 * ones if all nodes have as many, otherwise nothing is known. */
enum launcher_order { LAUNCHER_ANY_ORDER, LAUNCHER_BLOCKS, LAUNCHER_EQUAL_BLOCKS };

/* The environment variables in which launchers tell a process which one it is. nuioa-exec(1) lists
 * them, in the same order. */
struct launcher {
    const char *name;           /* for --launcher */
    const char *local_rank;     /* NULL where the launcher does not say it, here and below */
    const char *local_size;     /* the number of ranks on the node */
    const char *local_size_too; /* the same, if local_size is not set */
    const char *size_from;      /* for people: what tells local_size instead */
    const char *rank;           /* in the job */
    const char *size;           /* the number of ranks in the job */
    const char *nodes;          /* the number of nodes */
    const char *spawned;        /* is set, and not 0, in processes that MPI_Comm_spawn started */
    enum launcher_order order;
    bool gpu_by_rank; /* programs take the GPU of their local rank, as it documents */
    bool divides;     /* each process has a cpuset of its own, or is bound in any case */
    bool sized;       /* it is there only with local_size: others share its further names */
    /* It is read only if there is no other: its variables are inherited, or are there beside those
     * of the launcher that uses it. */
    bool last_resort;
};

/* The table ends with name == NULL. */
extern const struct launcher launcher_table[];

/* The user requested this. It goes before what the environment says. */
struct launcher_request {
    const char *launcher;            /* a name of the table, or NULL */
    const char *ranks;               /* a list such as "4-7", "block", or NULL */
    uint32_t local_rank, local_size; /* UINT32_MAX: not requested */
};
#define LAUNCHER_NOTHING_REQUESTED \
    { \
        .local_rank = UINT32_MAX, .local_size = UINT32_MAX \
    }

struct launcher_place {
    const struct launcher *launcher; /* NULL: none was found or requested */
    uint32_t local, count;           /* this process, from 0, of `count` on this node */
    uint32_t rank;                   /* in the job; UINT32_MAX: not known */
    uint32_t *ranks;                 /* [count], by local rank: in the job; NULL: not known */
    bool speaks; /* after -ENOENT: this process says for its node why, the others are silent */
};

/* Finds the place of the calling process. `environment` has the form of util/variable.h.
 *
 * What a job script has copied from Slurm without the number of local ranks (RANK, LOCAL_RANK and
 * WORLD_SIZE) is completed by Slurm if all three are those of this step; the launcher is then
 * Slurm.
 *
 * Returns 0; or -EINVAL if the request is wrong, -ENOENT if the environment does not say enough or
 * contradicts itself, or -ENOMEM, all with *err, which says what was looked at and what to type.
 * After -ENOENT place->speaks is true in one process of the node, so far as the numbers of its
 * processes tell them apart; else in several, and in each for which a number was typed. The caller
 * calls launcher_place_free in any case. */
int launcher_find(const struct launcher_request *request, char *const *environment,
                  struct launcher_place *place, struct nuioa_error *err);

/* Returns true if Slurm has started the process, or the user says so. */
bool launcher_is_slurm(const struct launcher_place *place);

/* Frees what *place holds, and clears it. */
void launcher_place_free(struct launcher_place *place);

#endif
