/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_TOPO_H
#define NUIOA_TOOL_TOPO_H

/* Runs the command `nuioa topo`, which prints what this node is: its NUMA nodes, NICs, GPUs and
 * distances. argv[0] is "topo". Returns the exit status of nuioa (tool.h). */
int tool_topo(int argc, char **argv);

#endif
