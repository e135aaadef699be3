/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_RENDER_NODE_H
#define NUIOA_TOPOLOGY_RENDER_NODE_H

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
