/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_REMOTE_H
#define NUIOA_TOOL_PROBE_REMOTE_H

#include "tools/probe/peer.h"
#include "topology/node.h"

/* What the other node of a step says of itself. */

enum { PROBE_REMOTE_NICS = 128, PROBE_REMOTE_NUMAS = 1024 };

struct probe_remote_nic {
    char label[48];
    uint32_t rate_mbps; /* 0: unknown */
    uint32_t near;      /* OS index of the NUMA node beside it */
};

struct probe_remote {
    struct probe_remote_nic nics[PROBE_REMOTE_NICS]; /* those that its --nic takes */
    uint32_t nic_count;
    uint32_t numas[PROBE_REMOTE_NUMAS]; /* OS indexes of the NUMA nodes that can be used */
    uint32_t numa_count;
};

/* Tells the other task of the NICs taken[node->nic_count], and hears the same of it. Returns as
 * probe_peer_receive. */
int probe_remote_exchange(struct probe_peer *peer, const struct nuioa_node *node, const bool *taken,
                          struct probe_remote *remote, struct nuioa_error *err);

/* Returns the other node's NIC of that label, or NULL. */
const struct probe_remote_nic *probe_remote_find(const struct probe_remote *remote,
                                                 const char *label);

#endif
