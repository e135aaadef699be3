/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/device_locality.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/sysfs.h"

enum { VENDOR_MELLANOX = 0x15b3 };

void nuioa_device_pci_name(hwloc_obj_t pci, char *text, size_t size)
{
    const struct hwloc_pcidev_attr_s *a = &pci->attr->pcidev;
    snprintf(text, size, "%04x:%02x:%02x.%01x", a->domain, a->bus, a->dev, a->func);
}

/* Removes memory without CPUs that is local to the whole machine: hwloc adds it to every object, so
 * it says nothing about a device that is near a part. */
static void drop_common_memory(const struct nuioa_node *node, hwloc_topology_t topology,
                               hwloc_obj_t near, hwloc_bitmap_t numas)
{
    hwloc_const_bitmap_t all = hwloc_get_root_obj(topology)->cpuset;
    for (uint32_t i = 0; i < node->numa_count; i++) {
        hwloc_obj_t numa = hwloc_get_numanode_obj_by_os_index(topology, node->numas[i].os_index);
        if (hwloc_bitmap_iszero(node->numas[i].cpus) && !hwloc_bitmap_isequal(near->cpuset, all) &&
            (!numa || hwloc_bitmap_iszero(numa->cpuset) || hwloc_bitmap_isequal(numa->cpuset, all)))
            hwloc_bitmap_clr(numas, node->numas[i].os_index);
    }
}

int nuioa_device_locality(const struct nuioa_node *node, hwloc_topology_t topology,
                          hwloc_obj_t device, long own, hwloc_bitmap_t *numas, hwloc_bitmap_t *cpus)
{
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device);
    int index = own < 0 || node->cut ? -1 : nuioa_node_numa(node, (unsigned)own);
    /* hwloc attaches devices of unknown locality to an object as large as the machine. If one NUMA
     * node has all CPUs, that is where they are. */
    bool known = !node->cut && near && near->cpuset && near->nodeset &&
                 !hwloc_bitmap_iszero(near->nodeset) &&
                 (nuioa_node_numas_with_cpus(node) == 1 ||
                  !hwloc_bitmap_isequal(near->cpuset, root->cpuset));
    *numas = known ? hwloc_bitmap_dup(near->nodeset) : hwloc_bitmap_alloc();
    *cpus = known ? hwloc_bitmap_dup(near->cpuset) : hwloc_bitmap_alloc();
    if (!*numas || !*cpus)
        return -ENOMEM;
    if (known)
        drop_common_memory(node, topology, near, *numas);
    if (known || index < 0)
        return known ? NUIOA_LOCALITY_HWLOC : NUIOA_LOCALITY_UNKNOWN;
    return hwloc_bitmap_only(*numas, (unsigned)own) ||
                   hwloc_bitmap_copy(*cpus, node->numas[index].cpus)
               ? -ENOMEM
               : NUIOA_LOCALITY_SYSFS;
}

int nuioa_device_pci_order(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    return length_a != length_b ? (length_a < length_b ? -1 : 1) : strcmp(a, b);
}

bool nuioa_device_is_same(hwloc_obj_t a, hwloc_obj_t b)
{
    const struct hwloc_pcidev_attr_s *x = &a->attr->pcidev, *y = &b->attr->pcidev;
    return x->domain == y->domain && x->bus == y->bus && x->dev == y->dev;
}

/* Returns the GUID of the board that a PCI device with one verbs device is on; or NULL. Only
 * Mellanox's is one: drivers of Omni-Path give all cards the same. */
static const char *board_of(hwloc_topology_t topology, hwloc_obj_t pci)
{
    const char *guid = NULL;
    unsigned count = 0;
    if (!pci || pci->attr->pcidev.vendor_id != VENDOR_MELLANOX)
        return NULL;
    for (hwloc_obj_t obj = NULL; count < 2 && (obj = hwloc_get_next_osdev(topology, obj));) {
        if (obj->attr->osdev.type != HWLOC_OBJ_OSDEV_OPENFABRICS ||
            obj->parent->type != HWLOC_OBJ_PCI_DEVICE || !nuioa_device_is_same(obj->parent, pci))
            continue;
        guid = hwloc_obj_get_info_by_name(obj, "SysImageGUID");
        count++;
    }
    return count == 1 && guid && strspn(guid, "0:") < strlen(guid) ? guid : NULL;
}

uint32_t nuioa_device_card(const struct nuioa_node *node, hwloc_topology_t topology,
                           hwloc_obj_t pci, uint32_t index)
{
    const char *board = board_of(topology, pci), *other = NULL;
    char name[24];
    if (!pci)
        return index;
    nuioa_device_pci_name(pci, name, sizeof(name));
    for (uint32_t i = 0; i < index; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        if (!strncmp(nic->pci, name, strlen(name) - 2))
            return nic->card;
        if (board)
            other = board_of(topology, hwloc_get_pcidev_by_busidstring(topology, nic->pci));
        if (other && !strcmp(other, board))
            return nic->card;
    }
    return index;
}

/* Returns true if the value of HWLOC_PCI_LOCALITY names a bus: entries
 * "<domain>[:<bus>[-<bus>]] <cpuset>" with ';' between them, or lines of a file. `bus` is the one
 * below the host bridge of a device. */
static bool named_in(const char *text, unsigned domain, unsigned bus)
{
    for (const char *entry = text; entry; entry = strpbrk(entry, ";\n")) {
        unsigned in_domain, first = 0, last = 255;
        entry += strspn(entry, ";\n \t");
        int found = sscanf(entry, "%x:%x-%x", &in_domain, &first, &last);
        if (found == 2)
            last = first;
        if (found >= 1 && in_domain == domain && first <= bus && bus <= last)
            return true;
    }
    return false;
}

bool nuioa_device_is_overridden(hwloc_obj_t pci)
{
    const char *text = getenv("HWLOC_PCI_LOCALITY");
    if (!text || !pci)
        return false;
    hwloc_obj_t top = pci;
    while (top->parent && hwloc_obj_type_is_io(top->parent->type))
        top = top->parent;
    unsigned domain = pci->attr->pcidev.domain, bus = pci->attr->pcidev.bus;
    if (top->type == HWLOC_OBJ_BRIDGE)
        bus = top->attr->bridge.downstream.pci.secondary_bus;
    char content[4096];
    if (text[0] == '/')
        nuioa_sysfs_text(AT_FDCWD, content, sizeof(content), "%s", text);
    return named_in(text[0] == '/' ? content : text, domain, bus);
}
