/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/pci_path.h"

#include <stddef.h>

enum nuioa_path nuioa_path_at(const struct nuioa_node *node, uint32_t gpu, uint32_t nic)
{
    if (!node->paths || gpu >= node->gpu_count || nic >= node->nic_count)
        return NUIOA_PATH_UNKNOWN;
    return node->paths[(size_t)gpu * node->nic_count + nic];
}

bool nuioa_path_shorter(enum nuioa_path a, enum nuioa_path b)
{
    return a != NUIOA_PATH_UNKNOWN && (b == NUIOA_PATH_UNKNOWN || a < b);
}

const char *nuioa_path_name(enum nuioa_path path)
{
    static const char *const names[NUIOA_PATHS] = { NULL, "PIX", "PXB", "PHB", "NODE", "SYS" };
    return names[path];
}
