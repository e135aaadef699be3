/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/text_table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void nuioa_text_table_init(struct nuioa_text_table *table, const char *align)
{
    memset(table, 0, sizeof(*table));
    table->align = align;
    table->columns = (unsigned)strlen(align);
}

void nuioa_text_table_add(struct nuioa_text_table *table, const char *fmt, ...)
{
    if (table->lost)
        return;
    if (table->count == table->room) {
        unsigned room = table->room ? 2 * table->room : 64;
        void *cells = realloc(table->cells, room * sizeof(*table->cells));
        table->lost = !cells;
        if (table->lost)
            /* cppcheck-suppress memleak ; the cells are still the table's. */
            return;
        table->cells = cells;
        table->room = room;
    }
    char *cell = table->cells[table->count++];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(cell, NUIOA_TEXT_TABLE_CELL, fmt, args);
    va_end(args);
    if (length >= NUIOA_TEXT_TABLE_CELL)
        memcpy(cell + NUIOA_TEXT_TABLE_CELL - 3, "..", 3);
}

void nuioa_text_table_add_words(struct nuioa_text_table *table, const char *words)
{
    for (size_t length; words; words = words[length] ? words + length + 1 : NULL) {
        length = strcspn(words, "|");
        nuioa_text_table_add(table, "%.*s", (int)length, words);
    }
}

static int column_width(const struct nuioa_text_table *table, unsigned column)
{
    size_t width = 0;
    bool used = false;
    for (unsigned i = column; i < table->count; i += table->columns) {
        size_t length = strlen(table->cells[i]);
        used = used || (length && i >= table->columns);
        width = length > width ? length : width;
    }
    return used ? (int)width : 0;
}

bool nuioa_text_table_shows(const struct nuioa_text_table *table, unsigned column)
{
    return column_width(table, column) > 0;
}

static void print_row(const struct nuioa_text_table *table, unsigned row, FILE *out, int indent)
{
    char line[16 * NUIOA_TEXT_TABLE_CELL];
    int length = snprintf(line, sizeof(line), "%*s", indent, "");
    for (unsigned c = 0; c < table->columns; c++) {
        unsigned cell = row * table->columns + c;
        int width = column_width(table, c);
        if (!width || cell >= table->count || (size_t)(length + width) + 3 > sizeof(line))
            continue;
        if (table->align[c] == 'l')
            width = -width;
        length += snprintf(line + length, sizeof(line) - (size_t)length, "%*s  ", width,
                           table->cells[cell]);
    }
    while (length && line[length - 1] == ' ')
        length--;
    if (length > NUIOA_TEXT_TABLE_WIDTH)
        length = NUIOA_TEXT_TABLE_WIDTH;
    fprintf(out, "%.*s\n", length, line);
}

void nuioa_text_table_print(struct nuioa_text_table *table, FILE *out, int indent)
{
    unsigned rows = table->count / table->columns;
    for (unsigned row = 0; !table->lost && rows > 1 && row < rows; row++)
        print_row(table, row, out, indent);
    if (table->lost)
        fprintf(out, "%*s(out of memory)\n", indent, "");
    free(table->cells);
    nuioa_text_table_init(table, table->align);
}

void nuioa_text_table_wrap(FILE *out, int indent, const char *text)
{
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column && column + 1 + length > NUIOA_TEXT_TABLE_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        column += fprintf(out, "%*s%.*s", column ? 1 : indent, "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}
