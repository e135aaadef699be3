/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/pci_path.h"

#include <errno.h>
#include <stdlib.h>

#include "topology/device_locality.h"

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

/* --- finding paths --- */

static bool is_bridge(hwloc_obj_t obj)
{
    return obj && obj->type == HWLOC_OBJ_BRIDGE;
}

/* Returns the path by the bridges above both devices; unknown if there is none. */
static enum nuioa_path by_bridges(hwloc_obj_t gpu, hwloc_obj_t nic)
{
    unsigned below_gpu = 0;
    if (nuioa_device_is_same(gpu, nic))
        return NUIOA_PATH_PIX;
    for (hwloc_obj_t a = gpu->parent; is_bridge(a); a = a->parent, below_gpu++) {
        unsigned below_nic = 0;
        for (hwloc_obj_t b = nic->parent; is_bridge(b); b = b->parent, below_nic++) {
            if (a != b)
                continue;
            if (a->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST)
                return NUIOA_PATH_PHB;
            return below_gpu <= 1 && below_nic <= 1 ? NUIOA_PATH_PIX : NUIOA_PATH_PXB;
        }
    }
    return NUIOA_PATH_UNKNOWN;
}

static enum nuioa_path by_numas(const struct nuioa_gpu *gpu, const struct nuioa_nic *nic)
{
    /* Memory of a GPU is a NUMA node of its own; then the CPUs are what both have in common. */
    if (hwloc_bitmap_intersects(gpu->numas, nic->numas) ||
        hwloc_bitmap_intersects(gpu->cpus, nic->cpus))
        return NUIOA_PATH_NODE;
    if (hwloc_bitmap_iszero(gpu->numas) || hwloc_bitmap_iszero(nic->numas))
        return NUIOA_PATH_UNKNOWN;
    return NUIOA_PATH_SYS;
}

int nuioa_discover_paths(struct nuioa_node *node, hwloc_topology_t topology,
                         struct nuioa_error *err)
{
    if (!node->gpu_count || !node->nic_count)
        return 0;
    node->paths = calloc(node->gpu_count, node->nic_count);
    if (!node->paths)
        return nuioa_fail(err, -ENOMEM, "out of memory for the paths between GPUs and NICs");
    for (uint32_t n = 0; n < node->nic_count; n++) {
        hwloc_obj_t nic = hwloc_get_pcidev_by_busidstring(topology, node->nics[n].pci);
        for (uint32_t g = 0; g < node->gpu_count; g++) {
            hwloc_obj_t gpu = hwloc_get_pcidev_by_busidstring(topology, node->gpus[g].pci);
            enum nuioa_path path = gpu && nic ? by_bridges(gpu, nic) : NUIOA_PATH_UNKNOWN;
            if (path == NUIOA_PATH_UNKNOWN)
                path = by_numas(&node->gpus[g], &node->nics[n]);
            node->paths[(size_t)g * node->nic_count + n] = (uint8_t)path;
        }
    }
    return 0;
}
