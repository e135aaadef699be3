/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_TRAFFIC_H
#define NUIOA_TOOL_TRAFFIC_H

/* nuioa traffic: runs a command, and as the local rank 0 prints what the NICs of the node carried
 * meanwhile. Returns the exit status of the command, or dies by the same signal. */
int tool_traffic(int argc, char **argv);

#endif
