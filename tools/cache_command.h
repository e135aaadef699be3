/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_CACHE_H
#define NUIOA_TOOL_CACHE_H

/* Runs the command `nuioa cache`, which keeps the description of this node for later launches.
 * argv[0] is "cache". Returns the exit status of nuioa (tool.h). */
int tool_cache(int argc, char **argv);

#endif
