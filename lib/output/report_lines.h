/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_LINES_H
#define NUIOA_OUTPUT_REPORT_LINES_H

#include "output/text_table.h"
#include "plan/plan.h"

/* What the parts of the report share. Private to the library. */

/* Six digits are enough for a person; whole numbers stay whole. Returns text. */
const char *report_number(double value, char *text, size_t size);

double report_heaviest(const struct nuioa_plan *plan);

/* The lines of the table of ranks: each rank, or above 64 ranks all that share NUMA node and
 * NIC. */
struct report_lines {
    const struct nuioa_plan *plan;
    bool grouped;
    const struct nuioa_assignment *assignment; /* the first of this line */
    bool *member;                              /* [task_count]: who is in it */
    uint32_t count;
    hwloc_bitmap_t ranks, cpus;
    double weight; /* of all together */
    bool leads;
    bool *done;
    uint32_t next;
};

/* To be closed even if it fails. */
bool report_lines_open(struct report_lines *lines, const struct nuioa_plan *plan);
bool report_lines_next(struct report_lines *lines);
void report_lines_close(struct report_lines *lines);

/* "0-3", "-" if empty; the table is lost without memory. */
void report_add_set(struct nuioa_text_table *table, hwloc_const_bitmap_t set);

/* Cells of a line: rank, leader, CPUs, NUMA; NIC, level; weight. */
void report_add_home(struct nuioa_text_table *table, const struct report_lines *line);
void report_add_nic(struct nuioa_text_table *table, const struct nuioa_node *node,
                    const struct report_lines *line);
void report_add_weight(struct nuioa_text_table *table, const struct report_lines *line);

#endif
