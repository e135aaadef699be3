/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_TABLE_H
#define NUIOA_OUTPUT_REPORT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "output/text_table.h"
#include "plan/plan.h"

/* The table of ranks in the report of one node (report.h), and in that of a whole job, which srun
 * makes of the records of its nodes (spank/report/summary.h). */

/* A step with more ranks than this has no row for each rank in its tables. */
#define NUIOA_REPORT_RANKS_MAX 64

/* A row of the table: one rank, or all ranks of a node that share NUMA nodes, NICs, GPUs, levels
 * and memory policy. A text that is too long is cut and ends in "..". */
struct nuioa_report_row {
    char ranks[64], cpus[64], numas[32]; /* lists, such as "0-3,8"; "": none, or unknown */
    char memory[32];                     /* the memory policy, as nuioa_memory_text() writes it */
    char nic[48];                        /* their NICs, as nuioa_report_nics() writes them */
    char gpus[32];  /* indexes of their GPUs, a list such as "0,2-3"; "": none or unknown */
    char path[8];   /* the longest path to their NICs, such as "PIX" (pci_path.h); "": unknown */
    uint32_t count; /* number of ranks */
    uint32_t level; /* their distance level from the NIC; UINT32_MAX: unknown */
    uint32_t leads; /* 1: the node's leader is among them */
    uint32_t gpu_level; /* their level from their GPUs; UINT32_MAX: none, or unknown */
    double weight;      /* sum of the ranks' weights; < 0: no hints */
};

/* The rows of the table of ranks, made from a plan. */
struct nuioa_report_rows {
    uint32_t count;
    struct nuioa_report_row *row; /* [count], in the order of their first local ranks */
    uint32_t *row_of;             /* [plan->task_count]: the row of each local rank */
    uint32_t *first;              /* [count]: the first local rank of each row */
    struct nuioa_arena arena;     /* of these; if it has `failed`, there is no row */
};

/* Makes the rows: one for each rank or, if `grouped`, for all ranks that share NUMA nodes, NICs,
 * GPUs, levels and memory policy. *rows is overwritten; `node` is the one that the plan was made
 * for. The caller frees rows->arena. */
void nuioa_report_rows_make(struct nuioa_report_rows *rows, const struct nuioa_plan *plan,
                            const struct nuioa_node *node, bool grouped);

/* Writes a set to `text`, an array of `size` bytes, at least 4: "0-3", or "" if it is empty. What
 * does not fit is cut, and ends in "..". Returns `text`. */
const char *nuioa_report_set(hwloc_const_bitmap_t set, char *text, size_t size);

/* Writes the NICs of an assignment for a table: the labels of up to two; of more NICs the first
 * one's and how many follow ("mlx5_0:1 +3"); "" if there are none. What does not fit into `size`
 * bytes is cut. Returns `text`. */
const char *nuioa_report_nics(const struct nuioa_assignment *assignment,
                              const struct nuioa_node *node, char *text, size_t size);

/* The columns of the table, for nuioa_text_table_init. */
#define NUIOA_REPORT_COLUMNS "lrlllllllllrl"

/* Adds the heads of these columns to the table. */
void nuioa_report_add_heads(struct nuioa_text_table *table);

/* Adds the cells of a row to the table. `host` is the name of the node; NULL in a table with
 * columns of its own after these, which has no room for the node, the memory policy and the bar.
 * `heaviest` is the weight of the longest bar; 0: there are no bars. */
void nuioa_report_add_row(struct nuioa_text_table *table, const char *host,
                          const struct nuioa_report_row *row, double heaviest);

/* Writes a number, which is not negative, to `text`, an array of `size` bytes (32 are enough; a
 * longer text is cut). It is rounded to six significant digits or, from 100000 on, to a whole
 * number. Whole numbers have no fraction. Returns `text`. */
const char *nuioa_report_number(double value, char *text, size_t size);

/* Writes a rate of `mbps` Mb/s to `text`, an array of `size` bytes (32 are enough): "100 Gb/s",
 * with one digit after the point if it is not whole; below 1 Gb/s "100 Mb/s"; "-" if it is 0, which
 * is unknown. Returns `text`. */
const char *nuioa_report_rate(uint32_t mbps, char *text, size_t size);

/* Returns the end of the word for this many: "s", or "" for one. */
const char *nuioa_report_plural(uint64_t count);

#endif
