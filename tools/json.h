/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_JSON_H
#define NUIOA_TOOL_JSON_H

#include "plan/plan.h"

/* Results for programs: stable formats, so keys are only ever added. null is what is not known.
 * Print to stdout; return the exit status. */

int tool_json_topo(const struct nuioa_node *node);

int tool_json_plan(const struct nuioa_plan *plan, const struct nuioa_node *node);

#endif
