/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_JSON_H
#define NUIOA_TOOL_JSON_H

#include "plan/plan.h"

/* Results for programs. doc/formats.md has the keys: they are never removed or changed, only added.
 * A value that is not known is null. Each function prints to stdout and returns the exit status. */

int tool_json_topo(const struct nuioa_node *node);

/* `plan` was made on `node`. */
int tool_json_plan(const struct nuioa_plan *plan, const struct nuioa_node *node);

#endif
