/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_HOST_GROUPS_H
#define SPANK_REPORT_HOST_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

/* Groups of hosts with the same text, for messages such as "node[1-3]: text". Only srun's child,
 * which is the user, has them: slurmstepd must give libslurm no list that a user can write. */

/* The largest number of groups, which is that of different texts. */
#define HOST_GROUPS_MAX 24

struct host_group {
    char text[256];
    uint32_t count; /* number of hosts */
    void *hosts;    /* a hostlist of libslurm, which ends the process without memory */
};

/* A struct of zeros is empty. */
struct host_groups {
    uint32_t count;   /* number of groups */
    uint32_t omitted; /* number of calls of host_groups_add() that found no room */
    struct host_group texts[HOST_GROUPS_MAX];
};

/* Adds `host` to the group with this text, formatted as by printf and cut if it is too long, which
 * is made if there is none. Callers add hosts in the order of nodes. If there are HOST_GROUPS_MAX
 * groups with other texts, it only adds 1 to `omitted`. */
void host_groups_add(struct host_groups *groups, const char *host, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Frees what the groups own, and makes *groups empty. The struct itself belongs to the caller. */
void host_groups_free(struct host_groups *groups);

/* Writes the hosts of a group, such as "node[1-3]", into `names`, an array of `size` bytes, at
 * least 4. Returns false if the list is longer, is cut and ends with "..". */
bool host_groups_names(const struct host_group *group, char *names, uint32_t size);

/* Writes the names of the hosts of the list `all`, such as "node[1-3]", that are not in the group,
 * as host_groups_names() does. It writes "" if `all` is NULL, or has another number of hosts than
 * `count`, or lacks one of the group's, and if none is left. */
void host_groups_others(const struct host_group *group, const char *all, uint32_t count,
                        char *names, uint32_t size);

#endif
