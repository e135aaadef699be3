#include "hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

/* libslurm's; the type of the handle has changed its name from one release to the next, its use
 * has not, so that slurm.h, which would object, is not included here. */
extern void *slurm_hostlist_create(const char *list);
extern int slurm_hostlist_find(void *hostlist, const char *host);
extern void slurm_hostlist_destroy(void *hostlist);

int hosts_find(const char *list, const char *host)
{
    void *hostlist = slurm_hostlist_create(list);
    int position = hostlist ? slurm_hostlist_find(hostlist, host) : -1;
    if (hostlist)
        slurm_hostlist_destroy(hostlist);
    return position < 0 ? -ENOENT : position;
}

/* "3" or "1(x2)" */
static int parse_item(char *item, uint32_t *tasks, uint32_t *times)
{
    char *repeat = strstr(item, "(x");
    *times = 1;
    if (repeat) {
        size_t length = strlen(repeat);
        if (repeat[length - 1] != ')')
            return -EINVAL;
        repeat[length - 1] = '\0';
        *repeat = '\0';
        if (nuioa_parse_u32(repeat + 2, 1 << 24, times) < 0)
            return -EINVAL;
    }
    return nuioa_parse_u32(item, 1 << 24, tasks);
}

int hosts_tasks(const char *list, uint32_t position, uint32_t *before, uint32_t *there)
{
    char *copy = strdup(list), *save = NULL;
    uint64_t sum = 0, first = 0; /* `first`: the position where the item begins */
    int rc = -EINVAL;
    char *item = copy ? strtok_r(copy, ",", &save) : NULL;
    for (; item; item = strtok_r(NULL, ",", &save)) {
        uint32_t tasks, times;
        if (parse_item(item, &tasks, &times) < 0)
            break;
        if (position < first + times) {
            *before = (uint32_t)(sum + (position - first) * tasks);
            *there = tasks;
            rc = 0;
            break;
        }
        sum += (uint64_t)tasks * times;
        first += times;
    }
    free(copy);
    return rc;
}
