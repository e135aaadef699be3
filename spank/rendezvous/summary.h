/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_SUMMARY_H
#define SPANK_RENDEZVOUS_SUMMARY_H

#include <stdbool.h>

#include "spank/rendezvous/record.h"

/* The report for a whole job, from the records of its nodes: a line for each rank, or above
 * RECORD_RANKS_MAX ranks for each class of equal nodes; which nodes differ from the others, and
 * how; the cost. Keeps of a node what is not the same elsewhere. */

struct summary;

/* NULL without memory, which all others take. */
struct summary *summary_new(void);
void summary_free(struct summary *summary);

/* Records come in any order, each node's once; the record may be freed afterwards. */
void summary_add(struct summary *summary, const struct record *record);

/* After the last: malloc'd, caller frees; NULL without memory. With `explain`, also what the first
 * node of each class had to say. */
char *summary_text(struct summary *summary, bool explain);

/* Calls say(arg, "node[1-3]: text") for each different warning of nodes. */
void summary_warnings(struct summary *summary, void (*say)(void *arg, const char *line), void *arg);

#endif
