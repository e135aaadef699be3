/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PLAN_H
#define NUIOA_TOOL_PLAN_H

/* Runs the command `nuioa plan`, which prints where the ranks of one node would run, and binds
 * nothing. argv[0] is "plan". Returns the exit status of nuioa (tool.h). */
int tool_plan(int argc, char **argv);

#endif
