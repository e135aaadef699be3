/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_TEXT_TABLE_H
#define NUIOA_OUTPUT_TEXT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

/* Tables for a terminal. All cells are collected before printing, so that each column is as wide as
 * its widest cell. */

/* The size of a cell and the width of a line, in bytes. */
#define NUIOA_TEXT_TABLE_CELL 40
#define NUIOA_TEXT_TABLE_WIDTH 100

struct nuioa_text_table {
    const char *align;                    /* one letter for each column: 'l' or 'r' */
    unsigned columns;                     /* the length of `align` */
    unsigned count, room;                 /* in cells: added; allocated */
    char (*cells)[NUIOA_TEXT_TABLE_CELL]; /* [room], row by row */
    bool lost;                            /* memory for a cell or its content was missing */
};

/* Begins an empty table; *table is overwritten. `align` must stay valid as long as the table. It
 * allocates nothing, and nuioa_text_table_print frees what is added later. */
void nuioa_text_table_init(struct nuioa_text_table *table, const char *align);

/* Adds the next cell, row by row, with a text that is formatted as by printf. A longer text is cut
 * and ends in "..". Without memory the whole table is `lost`, because the cells that follow would
 * be in wrong columns. */
void nuioa_text_table_add(struct nuioa_text_table *table, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a cell for each word of a list such as "node|rank||CPUs". */
void nuioa_text_table_add_words(struct nuioa_text_table *table, const char *words);

/* Returns whether a column is printed: some row but the first has an entry in it. */
bool nuioa_text_table_shows(const struct nuioa_text_table *table, unsigned column);

/* Prints the rows to `out`, frees the cells and makes the table empty. There are `indent` blanks
 * before the first column and two between columns; lines are cut at NUIOA_TEXT_TABLE_WIDTH. A
 * column is left out if it is empty in every row but the first, and so is a table that has no other
 * row. If the table is `lost`, one line says so instead. */
void nuioa_text_table_print(struct nuioa_text_table *table, FILE *out, int indent);

/* Prints a text to `out` in lines of at most NUIOA_TEXT_TABLE_WIDTH bytes, each after `indent`
 * blanks. Lines end between words; a longer word has a line of its own. */
void nuioa_text_table_wrap(FILE *out, int indent, const char *text);

#endif
