/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_GPU_NICS_TEXT_H
#define NUIOA_OUTPUT_GPU_NICS_TEXT_H

#include "ranks/assignment.h"

/* Writes which NICs are nearest to each of gpus[count], indexes into node->gpus, to `text`, an
 * array of `size` bytes: "0000:1b:00.0=mlx5_0:1+mlx5_1:1;0000:2a:00.0=mlx5_2:1". It is for a
 * process that sees them, and chooses by itself. The NICs are those that ranks may use, to which
 * the GPU has the shortest path (topology/pci_path.h) or, if no path is known, which share a NUMA
 * node with it. Where several GPUs have the same nearest NICs, each begins with another one. A GPU
 * of which nothing is known is left out. Returns `text`; or NULL if there are none, if they do not
 * fit, or if memory is short, and `text` is then undefined. */
const char *nuioa_gpu_nics_text(const struct nuioa_usable *usable, const struct nuioa_node *node,
                                const uint32_t *gpus, uint32_t count, char *text, size_t size);

#endif
