/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_RECORD_H
#define SPANK_RENDEZVOUS_RECORD_H

#include "plan/option.h"
#include "plan/plan.h"
#include "spank/rendezvous/wire.h"

/* What a node tells srun of its plan: struct wire_record and what follows it. */

/* Above so many ranks in the job, ranks with the same NUMA node and NIC share a line. */
#define RECORD_RANKS_MAX 64

struct record_source {
    const struct nuioa_plan *plan;
    const struct nuioa_node *node;
    const struct nuioa_warnings *warnings; /* may be NULL */
    const char *text;                      /* for explain; may be NULL */
    uint32_t position;                     /* of the node in the step */
    uint32_t job_tasks;                    /* in the whole step */
};

/* malloc'd, caller frees; NULL without memory. What has no room is left out. */
void *record_make(const struct record_source *source, size_t *length);

/* Its parts; they point into the bytes that were read. */
struct record {
    const struct wire_record *head;
    const struct wire_nic *nics;
    const struct wire_line *lines;
    const char (*warnings)[256];
    const char *text; /* NULL: none */
};

/* Checks lengths, counts and that texts end and are printable. `bytes` is aligned as malloc does. 0
 * or
 * -EINVAL. */
int record_read(const void *bytes, size_t length, struct record *record);

#endif
