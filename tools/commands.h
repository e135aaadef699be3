/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_COMMANDS_H
#define NUIOA_TOOL_COMMANDS_H

/* The commands of nuioa(1), as their manuals describe them. argv[0] is the name of the command, and
 * argv[argc] is NULL. Each returns the exit status of nuioa or TOOL_HELPED (tool.h); tool_exec and
 * tool_traffic return that of the program if it cannot be started, and nothing if it can. */
int tool_cache(int argc, char **argv);
int tool_compare(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_exec(int argc, char **argv);
int tool_plan(int argc, char **argv);
int tool_probe(int argc, char **argv);
int tool_profile(int argc, char **argv);
int tool_topo(int argc, char **argv);
int tool_traffic(int argc, char **argv);

#endif
