/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/built_in.h"
#include "util/number.h"

/* The built-in table has the rows with which no simulated machine is slower than with the best of
 * what MPI libraries choose by more than 2 %, and passes on all else: test/sim/choice.py. They
 * begin at 64 KiB, because the distance from the NIC matters only for messages of "hundreds of
 * kilobytes" (Goglin and Moreaud 2011, section 3.2). */
static const char built_in[] = "nuioa-coll 1\n" COLL_BUILT_IN_BCAST;

static const char *const shapes[SHAPE_COUNT] = {
    [SHAPE_LINEAR] = "linear", [SHAPE_BINOMIAL] = "binomial", [SHAPE_CHAIN] = "chain",
    [SHAPE_SPINE] = "spine",   [SHAPE_SCATTER] = "scatter",   [SHAPE_FLAT] = "flat",
    [SHAPE_WINDOW] = "window", [SHAPE_COMB] = "comb",
};

#define NODE(inter) \
    inter "+window " inter "+chain " inter "+linear " inter "+binomial " inter "+comb "
#define ALGORITHMS \
    NODE("linear") NODE("binomial") NODE("chain") NODE("spine") NODE("scatter") "flat pass"

const char *coll_algorithm_names(void)
{
    return ALGORITHMS;
}

/* A table of a former version may have rows of these collectives. */
static bool is_led_no_more(const char *collective)
{
    static const char *const names[] = { "reduce", "allreduce", "allgather", "allgatherv",
                                         "gather", "gatherv",   "scatter",   "scatterv" };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(collective, names[i]))
            return true;
    return false;
}

/* --- algorithms ------------------------------------------------------------------------------ */

static bool is_word_of(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return true;
    return false;
}

static uint8_t shape_of(const char *name)
{
    /* NOLINTNEXTLINE(bugprone-too-small-loop-variable): there are fewer than 256 shapes. */
    for (uint8_t i = 0; i < SHAPE_COUNT; i++)
        if (shapes[i] && !strcmp(shapes[i], name))
            return i;
    return SHAPE_NONE;
}

int coll_algorithm_parse(const char *text, struct coll_algorithm *algorithm)
{
    struct coll_algorithm result = { 0 };
    char word[COLL_WORD_MAX];
    if (strlen(text) >= sizeof(word))
        return -EINVAL;
    strcpy(word, text);
    char *segment = strchr(word, ':');
    if (segment) {
        *segment++ = '\0';
        if (nuioa_parse_u32(segment, INT32_MAX, &result.segment_bytes) < 0)
            return -EINVAL;
    }
    if (!*word || strchr(word, ' ') || !is_word_of(ALGORITHMS, word))
        return -EINVAL;
    char *intra = strchr(word, '+');
    if (intra)
        *intra++ = '\0';
    result.pass = !strcmp(word, "pass");
    result.inter = shape_of(word);
    result.intra = intra ? shape_of(intra) : SHAPE_LINEAR;
    *algorithm = result;
    return 0;
}

/* --- parsing --------------------------------------------------------------------------------- */

/* Reads a range: N, N-M, N- or *. */
static int parse_range(char *text, uint32_t *low, uint32_t *high)
{
    *low = 0;
    *high = UINT32_MAX;
    if (!strcmp(text, "*"))
        return 0;
    char *dash = strchr(text, '-');
    if (dash)
        *dash++ = '\0';
    if (nuioa_parse_u32(text, UINT32_MAX, low) < 0)
        return -EINVAL;
    if (!dash)
        *high = *low;
    else if (*dash && nuioa_parse_u32(dash, UINT32_MAX, high) < 0)
        return -EINVAL;
    return *low <= *high ? 0 : -EINVAL;
}

/* Reads a row. Returns NULL, or what is wrong. from_bytes is UINT64_MAX if this library does not
 * lead the row's collective any more. */
static const char *parse_row(char *line, struct coll_row *row)
{
    char *save, *words[6];
    int count = 0;
    uint32_t from;
    for (char *word = strtok_r(line, " \t", &save); word && count < 6;
         word = strtok_r(NULL, " \t", &save))
        words[count++] = word;
    if (count != 5)
        return "five columns are wanted";
    if (is_led_no_more(words[0])) {
        row->from_bytes = UINT64_MAX;
        return NULL;
    }
    if (strcmp(words[0], "bcast"))
        return "no such collective";
    if (parse_range(words[1], &row->node_low, &row->node_high) < 0 ||
        parse_range(words[2], &row->most_low, &row->most_high) < 0)
        return "N, N-M, N- or * is wanted";
    if (nuioa_parse_u32(words[3], UINT32_MAX, &from) < 0)
        return "not a number of bytes";
    row->from_bytes = from;
    if (coll_algorithm_parse(words[4], &row->algorithm) < 0)
        return "no such algorithm";
    return NULL;
}

static int fail(char *why, size_t size, int number, const char *what)
{
    snprintf(why, size, "line %d: %s", number, what);
    return -EINVAL;
}

/* Removes the comment of a line, and the blanks at its end. */
static void trim(char *line)
{
    size_t length = strcspn(line, "#");
    while (length && isspace((unsigned char)line[length - 1]))
        length--;
    line[length] = '\0';
}

static int parse_lines(struct coll_table *table, char *text, char *why, size_t size)
{
    bool begun = false;
    int number = 0;
    *why = '\0';
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        number++;
        trim(line);
        if (!*line)
            continue;
        if (!begun && strcmp(line, "nuioa-coll 1"))
            return fail(why, size, number, "the first line is not \"nuioa-coll 1\"");
        if (begun && table->row_count == COLL_ROW_MAX)
            return fail(why, size, number, "too many rows");
        struct coll_row *row = &table->rows[table->row_count];
        const char *wrong = begun ? parse_row(line, row) : NULL;
        if (wrong)
            return fail(why, size, number, wrong);
        if (begun && row->from_bytes == UINT64_MAX)
            fail(why, size, number, "this row is left out: only bcast is led");
        else
            table->row_count += begun;
        begun = true;
    }
    return begun ? 0 : fail(why, size, number, "it is empty");
}

int coll_table_parse(struct coll_table *table, const char *text, char *why, size_t size)
{
    struct coll_table *result = calloc(1, sizeof(*result));
    char *copy = strdup(text);
    int rc =
        result && copy ? parse_lines(result, copy, why, size) : fail(why, size, 0, "no memory");
    if (!rc)
        *table = *result;
    free(copy);
    free(result);
    return rc;
}

#define FILE_MAX 65536

int coll_table_read(struct coll_table *table, const char *path, char *why, size_t size)
{
    char *text = malloc(FILE_MAX + 1);
    FILE *file = text ? fopen(path, "re") : NULL;
    int rc = -EINVAL;
    if (!file) {
        snprintf(why, size, "%s", strerror(errno));
        free(text);
        return -EINVAL;
    }
    size_t length = fread(text, 1, FILE_MAX + 1, file);
    if (ferror(file))
        snprintf(why, size, "%s", strerror(errno));
    else if (length > FILE_MAX || memchr(text, '\0', length))
        snprintf(why, size, "not a text of at most %d bytes", FILE_MAX);
    else {
        text[length] = '\0';
        rc = coll_table_parse(table, text, why, size);
    }
    fclose(file);
    free(text);
    return rc;
}

void coll_table_default(struct coll_table *table)
{
    char why[128];
    if (coll_table_parse(table, built_in, why, sizeof(why)) < 0)
        table->row_count = 0; /* there is no memory: all calls are passed on */
}

/* --- choosing -------------------------------------------------------------------------------- */

void coll_table_narrow(struct coll_table *narrow, const struct coll_table *table, int node_count,
                       int most)
{
    uint32_t nodes = (uint32_t)node_count, ranks = (uint32_t)most;
    narrow->row_count = 0;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct coll_row *row = &table->rows[i];
        if (nodes >= row->node_low && nodes <= row->node_high && ranks >= row->most_low &&
            ranks <= row->most_high)
            narrow->rows[narrow->row_count++] = *row;
    }
}

const struct coll_algorithm *coll_table_choose(const struct coll_table *narrow, uint64_t bytes)
{
    for (uint32_t i = 0; i < narrow->row_count; i++)
        if (bytes >= narrow->rows[i].from_bytes)
            return &narrow->rows[i].algorithm;
    return NULL;
}

uint64_t coll_table_least(const struct coll_table *table)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct coll_row *row = &table->rows[i];
        if (!row->algorithm.pass && row->from_bytes < least)
            least = row->from_bytes;
    }
    return least;
}
