/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/gpu_discover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topology/device_locality.h"
#include "topology/gpu_device_file.h"

enum { VENDOR_AMD = 0x1002, VENDOR_NVIDIA = 0x10de, VENDOR_INTEL = 0x8086 };
enum { CLASS_VGA = 0x0300, CLASS_DISPLAY = 0x03, CLASS_ACCELERATOR = 0x12 };

/* Returns true if hwloc knows the device as one that computes, or as one of this name. */
static bool is_known_as(hwloc_obj_t pci, const char *prefix)
{
    for (hwloc_obj_t child = pci->io_first_child; child; child = child->next_sibling)
        if (child->type == HWLOC_OBJ_OS_DEVICE &&
            (prefix ? child->name && !strncmp(child->name, prefix, strlen(prefix))
                    : child->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC))
            return true;
    return false;
}

static bool has_render_node(hwloc_obj_t pci, const struct nuioa_sysfs *sysfs)
{
    char address[24];
    if (is_known_as(pci, "renderD"))
        return true;
    nuioa_device_pci_name(pci, address, sizeof(address));
    return nuioa_render_node(sysfs->drm, address) >= 0;
}

/* The graphics inside a processor of Intel always have this address. */
static bool is_inside_cpu(const struct hwloc_pcidev_attr_s *a)
{
    return a->vendor_id == VENDOR_INTEL && !a->domain && !a->bus && a->dev == 2;
}

/* The displays of management processors, ES1000 of AMD among them, are of class VGA and have no
 * render node. */
static bool can_compute(hwloc_obj_t pci, const struct nuioa_sysfs *sysfs)
{
    const struct hwloc_pcidev_attr_s *a = &pci->attr->pcidev;
    if (a->vendor_id == VENDOR_AMD && a->class_id >> 8 == CLASS_ACCELERATOR)
        return true;
    if (a->class_id >> 8 != CLASS_DISPLAY || is_inside_cpu(a))
        return false;
    if (a->vendor_id == VENDOR_NVIDIA)
        return true;
    if (a->vendor_id == VENDOR_AMD &&
        (a->class_id != CLASS_VGA || a->linkspeed > 0 || is_known_as(pci, NULL)))
        return true;
    if (a->vendor_id == VENDOR_INTEL && a->class_id != CLASS_VGA)
        return true;
    return has_render_node(pci, sysfs);
}

static bool is_vga(hwloc_obj_t pci)
{
    return pci->attr->pcidev.class_id == CLASS_VGA;
}

static uint32_t model_of(hwloc_obj_t pci)
{
    return (uint32_t)pci->attr->pcidev.vendor_id << 16 | pci->attr->pcidev.device_id;
}

/* Returns true if the node has a GPU of another model that is not of class VGA: such a GPU has no
 * display, so that a VGA beside it is what the machine's screen hangs from. Where all GPUs are of
 * class VGA, they are what programs compute on. */
static bool is_display_adapter(hwloc_topology_t topology, const struct nuioa_sysfs *sysfs,
                               hwloc_obj_t vga)
{
    if (!is_vga(vga))
        return false;
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(topology, pci));)
        if (!is_vga(pci) && model_of(pci) != model_of(vga) && can_compute(pci, sysfs))
            return true;
    return false;
}

static bool is_gpu(hwloc_topology_t topology, const struct nuioa_sysfs *sysfs, hwloc_obj_t pci)
{
    return can_compute(pci, sysfs) && !is_display_adapter(topology, sysfs, pci);
}

static enum nuioa_gpu_vendor vendor_of(unsigned id)
{
    switch (id) {
    case VENDOR_NVIDIA: return NUIOA_GPU_NVIDIA;
    case VENDOR_AMD: return NUIOA_GPU_AMD;
    case VENDOR_INTEL: return NUIOA_GPU_INTEL;
    default: return NUIOA_GPU_OTHER;
    }
}

/* The runtimes number display adapters, too: the numbers of GPUs of that vendor say nothing. */
static void forget_models(struct nuioa_node *node, hwloc_topology_t topology,
                          const struct nuioa_sysfs *sysfs)
{
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(topology, pci));)
        for (uint32_t i = 0;
             can_compute(pci, sysfs) && !is_gpu(topology, sysfs, pci) && i < node->gpu_count; i++)
            if (node->gpus[i].vendor == vendor_of(pci->attr->pcidev.vendor_id))
                node->gpus[i].model = 0;
}

static int by_pci(const void *left, const void *right)
{
    const struct nuioa_gpu *a = left, *b = right;
    return nuioa_device_pci_order(a->pci, b->pci);
}

int nuioa_discover_gpus(struct nuioa_node *node, hwloc_topology_t topology,
                        const struct nuioa_sysfs *sysfs, struct nuioa_error *err)
{
    unsigned count = 0;
    int failed = 0;
    for (hwloc_obj_t pci = NULL; (pci = hwloc_get_next_pcidev(topology, pci));)
        count += is_gpu(topology, sysfs, pci);
    node->gpus = calloc(count + 1, sizeof(*node->gpus));
    if (!node->gpus)
        failed = -ENOMEM;
    for (hwloc_obj_t pci = NULL; !failed && (pci = hwloc_get_next_pcidev(topology, pci));) {
        if (!is_gpu(topology, sysfs, pci))
            continue;
        struct nuioa_gpu *gpu = &node->gpus[node->gpu_count++];
        nuioa_device_pci_name(pci, gpu->pci, sizeof(gpu->pci));
        gpu->vendor = vendor_of(pci->attr->pcidev.vendor_id);
        gpu->model = model_of(pci);
        long own = -1;
        nuioa_sysfs_number(sysfs->pci, &own, "%s/numa_node", gpu->pci);
        int known = nuioa_device_locality(node, topology, pci, own, &gpu->numas, &gpu->cpus);
        failed = known < 0 ? known : 0;
    }
    if (failed)
        return nuioa_fail(err, failed, "out of memory while looking at GPUs");
    forget_models(node, topology, sysfs);
    if (node->gpu_count)
        qsort(node->gpus, node->gpu_count, sizeof(*node->gpus), by_pci);
    return 0;
}
