/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_BIND_AND_EXEC_H
#define NUIOA_TOOL_BIND_AND_EXEC_H

#include "tools/exec/exec_plan.h"

/* A process takes its part of the plan before it becomes the program. */

/* Binds the process to its CPUs, and reads back whether it is there. Returns 0, also if its CPUs
 * stay; or, after a message on stderr, an exit status: then the process has the CPUs it had. */
int exec_bind(const struct exec_plan *exec);

/* Removes the variables of nuioa that an outer step may have left, and those of other programs that
 * nuioa has set there and that nobody has changed. */
void exec_unset_outer(void);

/* Returns the variables of other libraries that choose NICs for this process as `program` (NULL:
 * not known): a block (tools/exports.h) that the caller frees, or NULL without memory. On an
 * emulated machine export=auto names NICs only if they are `shown`: they are not set, because this
 * machine does not have them. */
char *exec_exports(const struct exec_plan *exec, const char *program, bool shown);

/* Sets the memory policy and the environment for `program`; with exec->retold only what depends on
 * its NICs. Faults are added to the warnings of *exec. */
void exec_apply(struct exec_plan *exec, const char *program);

/* Becomes the program, an array that ends with NULL, of which the first is looked for in PATH.
 * Returns only if that fails, after a message on stderr: an exit status. */
int exec_become(char **program);

#endif
