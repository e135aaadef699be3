/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_JSON_H
#define NUIOA_TOOL_JSON_H

#include <jansson.h>

#include "plan/plan.h"

/* Results for programs. doc/formats.md has the keys: they are never removed or changed, only added.
 * A value that is not known is null. Each function only reads its input, prints to stdout, and
 * returns the exit status (tool.h): TOOL_DONE, or TOOL_UNANSWERED after a message if memory is
 * short. */

/* Returns a JSON string of `from`, which need not be UTF-8: other bytes become '?'. NULL: out of
 * memory. */
json_t *tool_json_text(const char *from);

/* Returns the same, or JSON's null if `from` is NULL or empty. */
json_t *tool_json_text_or_null(const char *from);

/* Returns an array of the members of a set, or of the levels (topology/numa_distance.h). NULL: out
 * of memory. */
json_t *tool_json_set(hwloc_const_bitmap_t set);
json_t *tool_json_levels(const uint8_t *level, uint32_t count);

/* Returns the array with the value, which it owns then, at its end. If either is NULL, for want of
 * memory, the other one is freed, and NULL is returned. */
json_t *tool_json_add(json_t *array, json_t *value);

/* Prints a value, which is freed, and a new line; each member on a line of its own, with so many
 * blanks before it, if `indent` is not 0. NULL: out of memory. */
int tool_json_print(json_t *root, size_t indent);

/* Prints the description of a node, as `nuioa topo --json`. */
int tool_json_topo(const struct nuioa_node *node);

/* Prints a plan, as `nuioa plan --json`; `node` and `options` are those that it was made with. */
int tool_json_plan(const struct nuioa_plan *plan, const struct nuioa_node *node,
                   const struct nuioa_options *options);

/* Prints the entry of one task, by its local rank, as `nuioa exec --print --json`. `exports`
 * is its variables of other libraries, a block (tools/exports.h), or NULL, which is no memory.
 * `known` says whether its rank in the job, and whether it leads, are known; else they are null. */
struct tool_json_known {
    bool rank, leader;
};
int tool_json_task(const struct nuioa_plan *plan, const struct nuioa_node *node, uint32_t local,
                   const char *exports, struct tool_json_known known);

#endif
