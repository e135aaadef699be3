/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_SUMMARY_H
#define SPANK_REPORT_SUMMARY_H

#include <stdbool.h>

#include "spank/report/record.h"

/* The report for a whole job, made from the records of its nodes. Of one node it is what
 * nuioa_report_text() says of that node. Of several it has a line for each rank, or above
 * NUIOA_REPORT_RANKS_MAX ranks (output/report_table.h) for each class of equal nodes; the nodes
 * that differ from the others; and the cost (J in nuioa(7)). Equal nodes share one stored record,
 * which limits the memory of large jobs. One thread at a time uses a summary. */

struct summary;

/* Returns an empty summary, which summary_free() frees, or NULL without memory. */
struct summary *summary_new(void);

/* Frees the summary with all that it copied. */
void summary_free(struct summary *summary);

/* Adds the record of a node, whose place in the step is below WIRE_NODES_MAX and which
 * record_read() has checked, and copies what it needs. Records come in any order, one for each
 * node. What there is no memory for is left out: the report may then count ranks that it does not
 * list. */
void summary_add(struct summary *summary, const struct record *record);

/* Returns the report, a text of many lines (malloc'd, caller frees), when all records were added;
 * or NULL without memory. With `explain` it ends with the explanation of one node of each class. */
char *summary_text(const struct summary *summary, bool explain);

/* Calls say(line) once for each different warning in the records, where `line` is such as
 * "node[1-3]: text", without a newline, and valid during the call only. Of more than
 * HOST_GROUPS_MAX different warnings (host_groups.h) the others are left out. */
void summary_warnings(const struct summary *summary, void (*say)(const char *line));

/* Writes the names of the nodes of the step that have no record here, as host_groups_others() does:
 * of the `node_count` nodes of the list `nodes`, NULL if that is not known. */
void summary_absent(const struct summary *summary, const char *nodes, uint32_t node_count,
                    char *names, uint32_t size);

#endif
