/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_RECORD_H
#define SPANK_REPORT_RECORD_H

#include "option/option.h"
#include "plan/plan.h"
#include "spank/report/wire.h"

/* The record by which a node tells srun its plan: struct wire_record and the arrays behind it. */

/* The input of record_make(). The caller owns all of it. */
struct record_source {
    struct wire_seal seal;
    const struct nuioa_plan *plan; /* if there is no plan: one without tasks, with a reason */
    const struct nuioa_node *node; /* the description of the node; at least its host is set */
    const struct nuioa_warnings *warnings; /* the node's faults; may be NULL */
    const char *text;                      /* the report for the option `explain`; may be NULL */
    /* Number of tasks of the whole step; above NUIOA_REPORT_RANKS_MAX a row may have several. */
    uint32_t job_tasks;
};

/* Writes the record, a struct wire_record with its arrays, into bytes[WIRE_RECORD_MAX], which are 0
 * and aligned to 8 bytes. Returns its length in bytes. It leaves out virtual NICs; NICs, rows and
 * warnings beyond the limits in wire.h; and a `text` that is longer than WIRE_TEXT_MAX. */
size_t record_make(const struct record_source *source, void *bytes);

/* The parts of a record. They point into the bytes that were read, and are valid as long as
 * these. */
struct record {
    const struct wire_record *head;
    const struct wire_nic *nics; /* [head->nic_count] */
    const struct wire_row *rows; /* [head->row_count] */
    const char (*warnings)[256]; /* [head->warning_count] */
    const char *text;            /* the report for the option `explain`; NULL: none */
    size_t length;               /* of all, in bytes from `head` on */
};

/* Checks a record of `length` bytes, which may be hostile, and fills *record. It checks lengths,
 * counts and numbers, and that texts end and are printable. `bytes` is aligned to 8 bytes. Returns
 * 0 or -EINVAL; after an error *record is undefined. */
int record_read(const void *bytes, size_t length, struct record *record);

/* Returns row `i` as one of the report's table. */
struct nuioa_report_row record_row(const struct record *record, uint32_t i);

/* Copies a record; unless `whole` the copy has no NICs, rows and text. Returns true and *to, whose
 * head the caller frees, and with it all; or false without memory, and *to is as it was. */
bool record_copy(const struct record *from, bool whole, struct record *to);

#endif
