/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_AFTER_STEP_H
#define SPANK_RENDEZVOUS_AFTER_STEP_H

#include <stdbool.h>

#include "spank/rendezvous/counters.h"

/* What srun prints when the step is over: the table of what the NICs of all nodes carried, and what
 * follows from it. One thread at a time uses it. All functions accept NULL, and then do nothing or
 * return NULL or false. */

struct after_step;

/* Returns an empty table, which after_step_free() frees, or NULL without memory. */
struct after_step *after_step_new(void);

void after_step_free(struct after_step *after);

/* Notes that the node at this position, below WIRE_NODES_MAX, will send its counters, and its name,
 * which is copied. Without memory the node is forgotten. */
void after_step_expect(struct after_step *after, uint32_t node, const char *host);

/* Returns true if any node will send its counters. */
bool after_step_is_expected(const struct after_step *after);

/* Copies the counters of a node that is expected; others are ignored. */
void after_step_add(struct after_step *after, const struct counters *counters);

/* Returns the text (malloc'd, caller frees), of many lines; NULL if no node is expected, or without
 * memory. It names the nodes whose counters have not come. A step with many nodes has of each kind
 * of nodes those that carried least and most. */
char *after_step_text(const struct after_step *after);

#endif
