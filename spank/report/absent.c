/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/absent.h"

#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "spank/report/host_groups.h"

/* srun alone runs this, as the user: the list of nodes is of its own environment.
 * void * converts to hostlist_t in all releases (host_groups.c). */

void absent_begin(struct absent *absent, uint32_t node_count, const char *nodes)
{
    free(absent->nodes);
    absent->node_count = node_count;
    absent->nodes = nodes ? strdup(nodes) : NULL;
}

void absent_answered(struct absent *absent, const char *host)
{
    if (!absent->answered)
        absent->answered = slurm_hostlist_create(NULL);
    if (absent->answered)
        slurm_hostlist_push_host(absent->answered, host);
}

/* Adds those of the list that have not answered. Returns false unless the list is that of the step,
 * and has all who answered. */
static bool add_absent(const struct absent *absent, void *list, struct host_groups *groups)
{
    uint32_t all = 0, here = 0;
    for (char *host; (host = slurm_hostlist_shift(list)); free(host), all++)
        if (absent->answered && slurm_hostlist_find(absent->answered, host) >= 0)
            here++;
        else
            host_groups_add(groups, host, "");
    return all == absent->node_count &&
           here == (absent->answered ? (uint32_t)slurm_hostlist_count(absent->answered) : 0);
}

void absent_names(const struct absent *absent, char *names, uint32_t size)
{
    struct host_groups *groups = calloc(1, sizeof(*groups));
    void *list = absent->nodes ? slurm_hostlist_create(absent->nodes) : NULL;
    *names = '\0';
    if (groups && list && add_absent(absent, list, groups) && groups->count)
        host_groups_names(&groups->texts[0], names, size);
    if (list)
        slurm_hostlist_destroy(list);
    if (groups)
        host_groups_free(groups);
    free(groups);
}

void absent_free(struct absent *absent)
{
    if (absent->answered)
        slurm_hostlist_destroy(absent->answered);
    free(absent->nodes);
    *absent = (struct absent){ 0 };
}
