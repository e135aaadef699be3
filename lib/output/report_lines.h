/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_LINES_H
#define NUIOA_OUTPUT_REPORT_LINES_H

#include "output/text_table.h"
#include "plan/plan.h"

/* The lines of the tables of ranks, in both forms of the report. Private to the library. */

/* Writes a number with at most six digits; whole numbers have no fraction. Returns `text`. */
const char *report_number(double value, char *text, size_t size);

/* Returns the largest weight of a rank. */
double report_heaviest(const struct nuioa_plan *plan);

/* An iterator over the lines of a table. A line is one rank; above 64 ranks, it is all ranks that
 * share NUMA nodes, NIC, level and memory policy. */
struct report_lines {
    const struct nuioa_plan *plan;
    bool grouped; /* a line may have several ranks */
    /* the current line: */
    const struct nuioa_assignment *assignment; /* of its first rank */
    bool *member;                              /* [task_count]: the local ranks in the line */
    uint32_t count;                            /* how many they are */
    hwloc_bitmap_t ranks, cpus;                /* global ranks; OS indexes of their CPUs */
    double weight;                             /* the sum of their weights */
    bool leads;                                /* the leader is among them */
    /* progress: */
    bool *done;    /* [task_count]: local ranks in this or an earlier line */
    uint32_t next; /* all local ranks below it are done */
};

/* Begins before the first line. Returns false without memory. In both cases the caller ends with
 * report_lines_close. */
bool report_lines_open(struct report_lines *lines, const struct nuioa_plan *plan);
/* Goes to the next line. Returns false after the last one. */
bool report_lines_next(struct report_lines *lines);
void report_lines_close(struct report_lines *lines);

/* Adds a cell with a set: "0-3", or "-" if it is empty. Without memory it sets table->lost. */
void report_add_set(struct nuioa_text_table *table, hwloc_const_bitmap_t set);

/* Adds four cells: ranks, leader mark, CPUs, NUMA nodes. */
void report_add_location(struct nuioa_text_table *table, const struct report_lines *line);
/* Adds two cells: NIC and level. */
void report_add_nic(struct nuioa_text_table *table, const struct nuioa_node *node,
                    const struct report_lines *line);
/* Adds one cell: the weight; it is empty if no rank has any. */
void report_add_weight(struct nuioa_text_table *table, const struct report_lines *line);

#endif
