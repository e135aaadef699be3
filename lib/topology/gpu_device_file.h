/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_GPU_DEVICE_FILE_H
#define NUIOA_TOPOLOGY_GPU_DEVICE_FILE_H

#include "topology/node.h"

/* How the running system names a GPU. Files and UUIDs can change when its driver is loaded
 * again. */
struct nuioa_gpu_device {
    char file[32]; /* "/dev/nvidia0" or "/dev/dri/renderD128"; "": unknown */
    char uuid[64]; /* as its vendor's tools print it, "GPU-8932f937-..."; "": unknown */
    bool
        divided; /* into parts that have numbers of their own: instances (MIG), partitions of AMD */
    /* The number of its node in the topology of AMD's driver, by which the runtimes number GPUs; 0,
     * which is a processor: unknown, or several nodes are parts of this GPU. */
    uint32_t kfd;
};

/* Asks the running system for the device file and the UUID of each GPU. It reads
 * proc/driver/nvidia/gpus/ADDRESS/information, where the driver of NVIDIA says both;
 * proc/driver/nvidia/capabilities/gpuMINOR/mig, which has a directory for each instance; the links
 * sys/class/drm/renderD*, for the file of GPUs that are not found there; and
 * sys/bus/pci/devices/ADDRESS/unique_id, of which the UUID of an AMD GPU is made; and
 * sys/class/kfd/kfd/topology/nodes/N/properties, which say which node an AMD GPU is. The kernel
 * denies the properties of a GPU to a process whose device cgroup denies the GPU. All are below
 * `root` ("" for this machine).
 *
 * The numbers in the names of files say nothing of the order of the GPUs.
 *
 * Sets devices[i] for each of the node->gpu_count GPUs; the caller allocates devices[]. This
 * machine is not asked about a node that was read from a file (node->emulated): all its names are
 * unknown. Returns the number of GPUs whose device file is known. It cannot fail. */
uint32_t nuioa_gpu_devices_read(const struct nuioa_node *node, const char *root,
                                struct nuioa_gpu_device *devices);

/* Sets `gpus`, the caller's set, to the GPUs whose device files the calling process may open for
 * reading and writing, as indexes into node->gpus: access(2) asks the modes of the files for its
 * real user, and the device cgroup. `devices` is from nuioa_gpu_devices_read. Returns true; or
 * false if the file of a GPU is not known or does not exist, or memory is short, and `gpus` is then
 * empty. */
bool nuioa_gpus_openable(const struct nuioa_node *node, const struct nuioa_gpu_device *devices,
                         hwloc_bitmap_t gpus);

/* A render node is the device file by which a program computes on a GPU without a display,
 * /dev/dri/renderD128. A display that cannot compute, such as that of a management processor, has
 * none.
 *
 * Returns the number of the render node of the PCI function with the address `pci`
 * ("0000:41:00.0"), or -1 if it has none. `drm` is the directory sys/class/drm of a machine
 * (nuioa_sysfs.drm), and stays the caller's; if it is -1, nothing is found. If there are several,
 * the lowest number is returned. */
int nuioa_render_node(int drm, const char *pci);

#endif
