/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROFILE_H
#define NUIOA_TOOL_PROFILE_H

/* Runs the command `nuioa profile`, which prints or converts what the ranks of a job communicate.
 * argv[0] is "profile". Returns the exit status of nuioa (tool.h). */
int tool_profile(int argc, char **argv);

#endif
