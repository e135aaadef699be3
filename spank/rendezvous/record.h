/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_RECORD_H
#define SPANK_RENDEZVOUS_RECORD_H

#include "plan/option.h"
#include "plan/plan.h"
#include "spank/rendezvous/wire.h"

/* The record by which a node tells srun its plan: struct wire_record and the arrays behind it. */

/* If the job has more ranks than this, ranks with the same NUMA node and NIC share a line. */
#define RECORD_RANKS_MAX 64

struct record_source {
    const struct nuioa_plan *plan;         /* without tasks, but with a reason, if there is none */
    const struct nuioa_node *node;         /* at least its host is set */
    const struct nuioa_warnings *warnings; /* may be NULL */
    const char *text;                      /* the explanation; may be NULL */
    uint32_t position;                     /* of the node in the step, from 0 */
    uint32_t job_tasks;                    /* tasks of the whole step */
};

/* Makes the record. Returns it malloc'd (caller frees) with its *length in bytes, or NULL without
 * memory. It leaves out NICs, lines and warnings beyond the limits in wire.h, and an explanation
 * that is longer than its limit. */
void *record_make(const struct record_source *source, size_t *length);

/* The parts of a record; they point into the bytes that were read. */
struct record {
    const struct wire_record *head;
    const struct wire_nic *nics;
    const struct wire_line *lines;
    const char (*warnings)[256];
    const char *text; /* NULL: none */
};

/* Checks lengths, counts and numbers, and that texts end and are printable; fills *record. `bytes`
 * is aligned as malloc() aligns. Returns 0 or -EINVAL. */
int record_read(const void *bytes, size_t length, struct record *record);

#endif
