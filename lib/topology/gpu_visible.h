/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_GPU_VISIBLE_H
#define NUIOA_TOPOLOGY_GPU_VISIBLE_H

#include "topology/gpu_device_file.h"

/* Finds the GPUs that a process has, by the variables that the runtimes of the vendors read:
 * exactly, or not at all. In these variables a GPU has a UUID, or a number that depends on the
 * runtime's order and on the GPUs that the process may open.
 *
 * NVIDIA  CUDA_VISIBLE_DEVICES: UUIDs, in full or as prefixes that only one GPU has, also in
 *         MIG-GPU-UUID/...; MIG-UUID is understood only if the process may open one GPU. Numbers
 *         are in PCI order if all GPUs of NVIDIA that it may open are of one model, or with
 *         CUDA_DEVICE_ORDER=PCI_BUS_ID. The list ends at the first entry that is neither number nor
 *         GPU, such as -1; an empty one means no GPU.
 * AMD     ROCR_VISIBLE_DEVICES, in the same way; its numbers are in the order of the driver's
 *         nodes, without those that are denied (ROCR-Runtime 6.2, libhsakmt/src/topology.c,
 *         topology_sysfs_check_node_supported, and core/runtime/amd_topology.cpp), and have no
 *         order where these are not known. Then
 *         HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES and GPU_DEVICE_ORDINAL, whose numbers count in
 *         what the first has left. They are understood if those that are set are equal and leave at
 *         least one GPU.
 * Intel   ZE_AFFINITY_MASK: with ZE_FLAT_DEVICE_HIERARCHY=COMPOSITE numbers of GPUs, "0" or "0.1",
 *         which are in PCI order with ZE_ENABLE_PCI_ID_DEVICE_ORDER=1; otherwise they may be
 *         numbers of tiles.
 *
 * A number that is not below the number of GPUs that the process may open is not understood. Where
 * one of these is divided (MIG, partitions of AMD) no number is, nor its UUID; where the vendor has
 * a display adapter (struct nuioa_gpu), no number. All these count or name something else, too.
 *
 * Without an order, numbers are understood if they name all GPUs of the vendor, or the only one. If
 * the process may open GPUs of a vendor whose variable is not set, the answer is unknown, because a
 * program that sees several GPUs chooses by itself; and so it is if a list is not understood. In
 * both cases a process that may open only one of the vendor's several GPUs has that one. GPUs of
 * other vendors have no variable.
 *
 * `devices` is from nuioa_gpu_devices_read, `environment` has the form of util/variable.h, and
 * `openable` are the GPUs that the process may open, as indexes into node->gpus. NULL: they are not
 * known; then no number is understood, for with a device cgroup numbers count in what it allows.
 *
 * Returns true and sets `gpus`, the caller's set, to the indexes into node->gpus of all GPUs that
 * the process has, perhaps none. Returns false if they are unknown or memory is short; `gpus` is
 * then empty. */
bool nuioa_gpus_visible(const struct nuioa_node *node, const struct nuioa_gpu_device *devices,
                        char *const *environment, hwloc_const_bitmap_t openable,
                        hwloc_bitmap_t gpus);

/* Finds the GPUs that a program of this process sees, in the order in which its runtime numbers
 * them, for a program that takes one by its number (option gpus=local-rank). It takes more for
 * granted than nuioa_gpus_visible, from which the parameters are: without a list the program sees
 * all GPUs that the process may open, and the numbers of GPUs of one model are in PCI order also on
 * Intel, and on AMD where the driver's nodes are not known. Those of several models of NVIDIA or
 * Intel are known with CUDA_DEVICE_ORDER=PCI_BUS_ID or ZE_ENABLE_PCI_ID_DEVICE_ORDER=1 only; UUIDs
 * are in the order of their list. With GPUs of two vendors, or with tiles of Intel or several
 * instances (MIG) of one GPU, the order is unknown.
 *
 * Writes them to order[node->gpu_count], which the caller allocated, as indexes into node->gpus.
 * Returns their number. Returns 0, and order[] says nothing, if there are none, if the order is
 * unknown, if `openable` is NULL, or if memory is short. */
uint32_t nuioa_gpus_in_order(const struct nuioa_node *node, const struct nuioa_gpu_device *devices,
                             char *const *environment, hwloc_const_bitmap_t openable,
                             uint32_t *order);

#endif
