/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_EXEC_H
#define NUIOA_TOOL_EXEC_H

/* nuioa exec: starts a program in this process, with the part of the plan that belongs to its rank.
 * Returns the exit status only if the program was not started. */
int tool_exec(int argc, char **argv);

#endif
