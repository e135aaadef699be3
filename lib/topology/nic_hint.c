/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_hint.h"

enum { VENDOR_MELLANOX = 0x15b3 };

/* Physical functions of BlueField to BlueField-4, as the driver mlx5_core of Linux lists them. */
static bool is_bluefield(hwloc_topology_t topology, const char *pci)
{
    static const unsigned short devices[] = { 0xa2d2, 0xa2d6, 0xa2dc, 0xa2df };
    hwloc_obj_t obj = *pci ? hwloc_get_pcidev_by_busidstring(topology, pci) : NULL;
    for (unsigned i = 0; obj && i < sizeof(devices) / sizeof(*devices); i++)
        if (obj->attr->pcidev.vendor_id == VENDOR_MELLANOX &&
            obj->attr->pcidev.device_id == devices[i])
            return true;
    return false;
}

void nuioa_nic_hints_read(struct nuioa_node *node, hwloc_topology_t topology)
{
    for (uint32_t i = 0; i < node->nic_count; i++)
        node->nics[i].hints =
            node->gpu_count && is_bluefield(topology, node->nics[i].pci) ? NUIOA_HINT_BLUEFIELD : 0;
}
