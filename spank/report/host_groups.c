/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/host_groups.h"

#include <slurm/slurm.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"

/* hostlist_t is a pointer in some releases of Slurm and a struct in others, whose functions take a
 * pointer to it. void * converts to both. */

void host_groups_add(struct host_groups *groups, const char *host, const char *fmt, ...)
{
    char text[sizeof(groups->texts->text)];
    uint32_t i = 0;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    while (i < groups->count && strcmp(groups->texts[i].text, text))
        i++;
    if (i == HOST_GROUPS_MAX) {
        groups->omitted++;
        return;
    }
    struct host_group *t = &groups->texts[i];
    if (i == groups->count) {
        nuioa_copy(t->text, sizeof(t->text), text);
        t->hosts = slurm_hostlist_create(NULL);
        t->count = 0;
        groups->count++;
    }
    t->count++;
    slurm_hostlist_push_host(t->hosts, host);
}

bool host_groups_names(const struct host_group *group, char *names, uint32_t size)
{
    memset(names, 0, size);
    if (slurm_hostlist_ranged_string(group->hosts, size, names) >= 0)
        return true;
    memcpy(names + strnlen(names, size - 3), "..", 3);
    return false;
}

void host_groups_others(const struct host_group *group, const char *all, uint32_t count,
                        char *names, uint32_t size)
{
    struct host_groups others = { 0 };
    void *list = all ? slurm_hostlist_create(all) : NULL;
    uint32_t here = 0;
    for (char *host; list && (host = slurm_hostlist_shift(list)); free(host))
        if (group->hosts && slurm_hostlist_find(group->hosts, host) >= 0)
            here++;
        else
            host_groups_add(&others, host, "%s", "");
    *names = '\0';
    if (others.count && here == group->count && here + others.texts[0].count == count)
        host_groups_names(&others.texts[0], names, size);
    if (list)
        slurm_hostlist_destroy(list);
    host_groups_free(&others);
}

void host_groups_free(struct host_groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        slurm_hostlist_destroy(groups->texts[i].hosts);
    *groups = (struct host_groups){ 0 };
}
