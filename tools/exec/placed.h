/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_EXEC_PLACED_H
#define NUIOA_TOOL_EXEC_PLACED_H

#include "tools/exec/exec_plan.h"

/* A process that the plugin has placed keeps its CPUs, its memory policy and what it was told. Only
 * its GPUs may be known better now: a script between srun and the program may have divided them by
 * a variable such as CUDA_VISIBLE_DEVICES, or their rule was requested for this command alone. */

/* Looks whether the plan of such a process (input->placed) knows GPUs that the plugin did not know,
 * and sets exec->retold. Else the plan gets the NICs and the level that the plugin has told, so
 * that it says what the process has. In both cases it says why. */
void exec_placed_settle(struct exec_plan *exec);

/* If exec->retold: tells `program` its GPUs and their NICs, in place of the plugin's answer. */
void exec_placed_tell(const struct exec_plan *exec, const char *program);

#endif
