/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/device.h"

#include <errno.h>
#include <stdio.h>

void nuioa_device_pci_name(hwloc_obj_t pci, char *text, size_t size)
{
    const struct hwloc_pcidev_attr_s *a = &pci->attr->pcidev;
    snprintf(text, size, "%04x:%02x:%02x.%01x", a->domain, a->bus, a->dev, a->func);
}

/* Removes memory without CPUs: hwloc adds it to every object, so it says nothing about the
 * device. */
static void keep_own_memory(const struct nuioa_node *node, hwloc_bitmap_t numas)
{
    bool own = false;
    for (uint32_t i = 0; i < node->numa_count; i++)
        own = own || (hwloc_bitmap_isset(numas, node->numas[i].os_index) &&
                      !hwloc_bitmap_iszero(node->numas[i].cpus));
    for (uint32_t i = 0; own && i < node->numa_count; i++)
        if (hwloc_bitmap_iszero(node->numas[i].cpus))
            hwloc_bitmap_clr(numas, node->numas[i].os_index);
}

int nuioa_device_locality(const struct nuioa_node *node, hwloc_topology_t topology,
                          hwloc_obj_t device, hwloc_bitmap_t *numas, hwloc_bitmap_t *cpus)
{
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device);
    /* hwloc attaches devices of unknown locality to an object as large as the machine. */
    bool known = near && near->cpuset && near->nodeset && !hwloc_bitmap_iszero(near->nodeset) &&
                 (node->numa_count == 1 || !hwloc_bitmap_isequal(near->cpuset, root->cpuset));
    *numas = known ? hwloc_bitmap_dup(near->nodeset) : hwloc_bitmap_alloc();
    *cpus = known ? hwloc_bitmap_dup(near->cpuset) : hwloc_bitmap_alloc();
    if (!*numas || !*cpus)
        return -ENOMEM;
    keep_own_memory(node, *numas);
    return known;
}
