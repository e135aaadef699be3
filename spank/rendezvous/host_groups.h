/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_HOST_GROUPS_H
#define SPANK_RENDEZVOUS_HOST_GROUPS_H

#include <stdint.h>

/* Groups of hosts with the same text, for messages such as "node[1-3]: text". */

#define HOST_GROUPS_MAX 24

struct host_group {
    char text[256];
    uint32_t count; /* number of hosts */
    void *hosts;    /* a hostlist of libslurm; NULL without memory */
};

/* A struct of zeros is empty. */
struct host_groups {
    uint32_t count;
    uint32_t omitted; /* calls of host_groups_add() that found no room */
    struct host_group texts[HOST_GROUPS_MAX];
};

/* Adds a host to the group of this text, or a new group. Callers add hosts in the order of nodes.
 * More than HOST_GROUPS_MAX different texts are counted in `omitted`. */
void host_groups_add(struct host_groups *groups, const char *host, const char *text);

/* Frees what the groups own, and makes them empty. */
void host_groups_free(struct host_groups *groups);

/* Writes the group's hosts, "node[1-3]", into names[size]; a longer list is cut and ends with "..".
 * Returns names. */
const char *host_groups_names(const struct host_group *text, char *names, uint32_t size);

#endif
