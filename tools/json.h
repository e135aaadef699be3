#ifndef NUIOA_TOOL_JSON_H
#define NUIOA_TOOL_JSON_H

#include <stdbool.h>

#include "plan.h"

/* Results for programs (contract: "nuioa topo --json", "nuioa plan --json"): keys in that order, null for
 * what is not known. Print to stdout; return the exit status. */

int tool_json_topo(const struct nuioa_node *node);

/* Weights are null unless `hinted`. */
int tool_json_plan(const struct nuioa_plan *plan, const struct nuioa_node *node, bool hinted);

#endif
