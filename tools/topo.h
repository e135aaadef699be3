/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_TOPO_H
#define NUIOA_TOOL_TOPO_H

/* The command `nuioa topo`. argv[0] is "topo". Returns the exit status of nuioa. */
int tool_topo(int argc, char **argv);

#endif
