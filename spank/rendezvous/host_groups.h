/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_HOST_GROUPS_H
#define SPANK_RENDEZVOUS_HOST_GROUPS_H

#include <stdint.h>

/* Things that are true of several nodes, each said once: "node[1-3]: text". */

/* Different texts; more are counted. */
#define HOST_GROUPS_MAX 24

struct host_group {
    char text[256];
    uint32_t count; /* of nodes */
    void *hosts;
};

struct host_groups {
    uint32_t count, omitted;
    struct host_group texts[HOST_GROUPS_MAX];
};

/* In the order of nodes. */
void host_groups_add(struct host_groups *groups, const char *host, const char *text);
void host_groups_free(struct host_groups *groups);

/* "node[1-3]", at most `size` bytes, cut with "..". Returns names. */
const char *host_groups_names(const struct host_group *text, char *names, uint32_t size);

#endif
