/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_hint.h"

#include <fcntl.h>
#include <string.h>

#include "util/sysfs.h"
#include "util/word.h"

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

/* Reads a line of proc/net/route, such as "eth0 00000000 0102A8C0 0003 0 0 100 00000000 0 0 0".
 * Returns the interface if it has the route to everywhere, or NULL. */
static const char *default_route(char *line)
{
    const char *fields[8];
    for (unsigned i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (!(fields[i] = nuioa_next_word(&line, " \t")))
            return NULL;
    return !strcmp(fields[1], "00000000") && !strcmp(fields[7], "00000000") ? fields[0] : NULL;
}

/* The kernel lists the default route first. */
static void read_routes(struct nuioa_node *node, const char *root)
{
    char text[4096], *rest = text;
    if (nuioa_sysfs_text(AT_FDCWD, text, sizeof(text), "%s/proc/net/route", root) < 0)
        return;
    for (char *line; (line = nuioa_next_word(&rest, "\n"));) {
        const char *netdev = default_route(line);
        for (uint32_t i = 0; netdev && i < node->nic_count; i++)
            if (!strcmp(node->nics[i].netdev, netdev))
                node->nics[i].hints |= NUIOA_HINT_ROUTE;
    }
}

void nuioa_nic_hints_read(struct nuioa_node *node, hwloc_topology_t topology, const char *root)
{
    for (uint32_t i = 0; i < node->nic_count; i++)
        node->nics[i].hints =
            node->gpu_count && is_bluefield(topology, node->nics[i].pci) ? NUIOA_HINT_BLUEFIELD : 0;
    if (node->gpu_count && root)
        read_routes(node, root);
}
