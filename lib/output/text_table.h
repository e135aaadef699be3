/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_TEXT_TABLE_H
#define NUIOA_OUTPUT_TEXT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

/* Columns for a terminal: cells are collected first, so that every column is as wide as it needs to
 * be. Not public. */

#define NUIOA_TEXT_TABLE_CELL 40
#define NUIOA_TEXT_TABLE_WIDTH 100

struct nuioa_text_table {
    const char *align; /* one letter per column: 'l' or 'r' */
    unsigned columns;
    unsigned count, room; /* cells */
    char (*cells)[NUIOA_TEXT_TABLE_CELL];
    bool lost; /* there was no memory for a cell, or for what was to be in it */
};

/* Begins an empty table; `align` must outlive it. */
void nuioa_text_table_init(struct nuioa_text_table *table, const char *align);

/* The next cell, row by row. A longer text is cut and ends in "..". Without memory the table is
 * `lost`, for no cell may get into another's column. */
void nuioa_text_table_add(struct nuioa_text_table *table, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints the rows, two blanks between columns, `indent` before the first, lines cut at
 * NUIOA_TEXT_TABLE_WIDTH, and empties the table. A column that is empty in every row but the first
 * is left out, heading and all. A table that is `lost` is one line that says so. */
void nuioa_text_table_print(struct nuioa_text_table *table, FILE *out, int indent);

/* Prints a text that may be longer than a line, with a hanging indent. */
void nuioa_text_table_wrap(FILE *out, int indent, const char *text);

#endif
