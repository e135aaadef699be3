/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/remote.h"

#include <errno.h>
#include <string.h>

#include "tools/probe/cells.h"

/* How long the other node may take to find out about itself. */
enum { DESCRIBE_MS = 60000 };

static int tell(struct probe_peer *peer, const struct nuioa_node *node, const bool *taken,
                struct nuioa_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; !rc && i < node->numa_count; i++) {
        struct probe_message numa = { PROBE_NUMA, { node->numas[i].os_index }, "" };
        if (probe_numa_is_usable(node, i))
            rc = probe_peer_send(peer, &numa, err);
    }
    for (uint32_t i = 0; !rc && i < node->nic_count; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        int near = probe_near_numa(node, nic);
        if (!taken[i] || near < 0)
            continue;
        struct probe_message one = { PROBE_NIC,
                                     { nic->rate_mbps, node->numas[near].os_index },
                                     "" };
        nuioa_nic_label(nic, one.text, sizeof(one.text));
        rc = probe_peer_send(peer, &one, err);
    }
    struct probe_message ready = { PROBE_READY, { 0 }, "" };
    return rc ? rc : probe_peer_send(peer, &ready, err);
}

/* Takes what a message says; what there is no room for is left out. */
static void note(struct probe_remote *remote, const struct probe_message *message)
{
    if (message->kind == PROBE_NUMA && remote->numa_count < PROBE_REMOTE_NUMAS)
        remote->numas[remote->numa_count++] = message->numbers[0];
    if (message->kind == PROBE_NIC && remote->nic_count < PROBE_REMOTE_NICS) {
        struct probe_remote_nic *nic = &remote->nics[remote->nic_count++];
        nuioa_copy(nic->label, sizeof(nic->label), message->text);
        nic->rate_mbps = message->numbers[0];
        nic->near = message->numbers[1];
    }
}

int probe_remote_exchange(struct probe_peer *peer, const struct nuioa_node *node, const bool *taken,
                          struct probe_remote *remote, struct nuioa_error *err)
{
    struct probe_message message = { .kind = PROBE_HELLO };
    *remote = (struct probe_remote){ .nic_count = 0 };
    int rc = tell(peer, node, taken, err);
    while (!rc && message.kind != PROBE_READY) {
        rc = probe_peer_receive(peer, DESCRIBE_MS, &message, err);
        if (!rc)
            note(remote, &message);
    }
    return rc;
}

const struct probe_remote_nic *probe_remote_find(const struct probe_remote *remote,
                                                 const char *label)
{
    for (uint32_t i = 0; i < remote->nic_count; i++)
        if (!strcmp(remote->nics[i].label, label))
            return &remote->nics[i];
    return NULL;
}
