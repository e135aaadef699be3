/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PLAN_OPTION_H
#define NUIOA_TOOL_PLAN_OPTION_H

#include "option/option.h"
#include "tools/tool.h"

/* Sets the option of a plan (lib/option/option_table.h) that is being read. As for srun, --nuioa
 * needs no value: one is taken only if the next argument is no option. Returns 0, also after a
 * warning on stderr that the option went; or TOOL_USAGE after a message there. */
int plan_option_set(struct tool_args *args, struct nuioa_options *options);

/* Prints the usage of a command and the options of a plan. Returns the exit status. */
int plan_option_help(const char *usage);

#endif
