/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_LAUNCHER_H
#define NUIOA_TOOL_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/exec/launcher_table.h"
#include "util/error.h"

/* The place of the calling process among those on its node. It is said by the environment that the
 * launcher made, or by what the user requested. */

#define LAUNCHER_TASKS_MAX 65536

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
