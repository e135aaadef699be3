/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_LINES_H
#define NUIOA_OUTPUT_REPORT_LINES_H

#include "output/text_table.h"
#include "plan/plan.h"

/* The lines of the tables of ranks, in both forms of the report. Private to the library. */

/* Writes a number, which is not negative, to `text`, an array of `size` bytes (32 are enough; a
 * longer text is cut). It is rounded to six significant digits or, from 100000 on, to a whole
 * number. Whole numbers have no fraction. Returns `text`. */
const char *report_number(double value, char *text, size_t size);

/* Returns the largest weight of a rank of the plan, in its unit; 0 without hints. */
double report_heaviest(const struct nuioa_plan *plan);

/* An iterator over the lines of a table. A line is one rank; above 64 ranks, it is all ranks that
 * share NUMA nodes, NICs, GPUs, level and memory policy. */
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

/* Begins before the first line; *lines is overwritten, and the plan must outlive it. Returns false
 * if memory is short. In both cases the caller ends with report_lines_close. */
bool report_lines_open(struct report_lines *lines, const struct nuioa_plan *plan);

/* Goes to the next line: sets the fields of the current line, which are valid until the next call.
 * Returns false after the last line. */
bool report_lines_next(struct report_lines *lines);

/* Frees what *lines owns. */
void report_lines_close(struct report_lines *lines);

/* The functions below add the next cells to the row of a table (text_table.h). They return nothing:
 * if memory is short, they set table->lost, and the table is not printed. */

/* Adds a cell with a set: "0-3", or "-" if it is empty. */
void report_add_set(struct nuioa_text_table *table, hwloc_const_bitmap_t set);

/* Adds four cells: ranks, leader mark, CPUs, NUMA nodes. */
void report_add_location(struct nuioa_text_table *table, const struct report_lines *line);

/* Adds two cells: NICs and level. `node` is the one that the plan was made for. */
void report_add_nic(struct nuioa_text_table *table, const struct nuioa_node *node,
                    const struct report_lines *line);

/* Returns true if the GPUs of some rank are known. */
bool report_has_gpus(const struct nuioa_plan *plan);

/* Adds two cells: the indexes of the GPUs, and the longest path from one of them to its nearest
 * NIC. They are empty if no rank has known GPUs. */
void report_add_gpus(struct nuioa_text_table *table, const struct report_lines *line);

/* Adds one cell: the weight; it is empty if no rank has any. */
void report_add_weight(struct nuioa_text_table *table, const struct report_lines *line);

#endif
