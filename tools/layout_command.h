/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_LAYOUT_H
#define NUIOA_TOOL_LAYOUT_H

/* `nuioa layout`: which ranks share a node, and which a switch. Returns the exit status. */
int tool_layout(int argc, char **argv);

#endif
