/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_EXPORTS_H
#define NUIOA_TOOL_EXPORTS_H

#include <stdio.h>

#include "plan/plan.h"

/* The variables of other libraries that ranks would get, shown before a launch. A block has the
 * form of output/environment.h. */

/* How far export=auto is looked into. What the environment of this process has is the user's, as it
 * would be for srun. */
enum tool_exports_check {
    TOOL_EXPORTS_THERE, /* ranks run elsewhere: devices can be opened, and no file chooses NICs */
    TOOL_EXPORTS_HERE,  /* for this process on this machine: files and devices count */
    TOOL_EXPORTS_WORDS  /* words of `export` only: in a container, or NICs of another machine */
};

/* Returns those of one rank, by its local rank: a block that the caller frees; NULL without memory.
 * What the user has set is left out, and a rank has none if it is unknown which GPUs it has. */
char *tool_exports_of(const struct nuioa_plan *plan, const struct nuioa_node *node,
                      const struct nuioa_options *options, uint32_t local,
                      enum tool_exports_check check);

/* Prints those of all ranks, a line for ranks that have the same; with `explain` also why
 * export=auto names no NIC. */
void tool_exports_print(const struct nuioa_plan *plan, const struct nuioa_node *node,
                        const struct nuioa_options *options, bool explain);

/* Prints the line of one block: "exports", the words `ranks`, such as " of rank 3", and the
 * variables; nothing if it is empty or NULL. */
void tool_exports_print_one(const char *block, const char *ranks, FILE *out);

#endif
