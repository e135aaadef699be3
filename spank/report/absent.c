/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/absent.h"

#include <slurm/slurm.h>
#include <stdlib.h>

#include "spank/report/host_groups.h"

/* srun alone runs this, as the user: the list of nodes is of its own environment.
 * void * converts to hostlist_t in all releases (host_groups.c). */

void absent_answered(void **answered, const char *host)
{
    if (!*answered)
        *answered = slurm_hostlist_create(NULL);
    if (*answered)
        slurm_hostlist_push_host(*answered, host);
}

void absent_names(void *answered, const char *nodes, uint32_t node_count, char *names,
                  uint32_t size)
{
    struct host_groups *groups = calloc(1, sizeof(*groups));
    void *list = groups && nodes ? slurm_hostlist_create(nodes) : NULL;
    uint32_t all = 0, here = 0;
    *names = '\0';
    for (char *host; list && (host = slurm_hostlist_shift(list)); free(host), all++)
        if (answered && slurm_hostlist_find(answered, host) >= 0)
            here++;
        else
            host_groups_add(groups, host, "");
    if (list && groups->count && all == node_count &&
        here == (answered ? (uint32_t)slurm_hostlist_count(answered) : 0))
        host_groups_names(&groups->texts[0], names, size);
    if (list)
        slurm_hostlist_destroy(list);
    if (groups)
        host_groups_free(groups);
    free(groups);
}
