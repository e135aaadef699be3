/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/latency.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "util/word.h"

enum { FILE_BYTES_MAX = 8 << 20 };
#define VALUE_NS_MAX 1e6

static const char blanks[] = " \t\r,;";

int nuioa_latency_init(struct nuioa_latency *latency, uint32_t count)
{
    *latency = (struct nuioa_latency){ .count = count };
    latency->over_ns = calloc((size_t)count * count, sizeof(*latency->over_ns));
    return latency->over_ns ? 0 : -ENOMEM;
}

void nuioa_latency_free(struct nuioa_latency *latency)
{
    free(latency->over_ns);
    *latency = (struct nuioa_latency){ 0 };
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void nuioa_latency_sort(double *ns, size_t count)
{
    qsort(ns, count, sizeof(*ns), compare);
}

void nuioa_latency_from_full(struct nuioa_latency *latency, const double *full_ns)
{
    uint32_t count = latency->count;
    latency->local_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        double local = full_ns[(size_t)i * count + i];
        latency->local_ns += local / count;
        for (uint32_t j = 0; j < count; j++)
            latency->over_ns[(size_t)i * count + j] = full_ns[(size_t)i * count + j] - local;
    }
}

/* --- text ------------------------------------------------------------------------------------- */

struct reader {
    const char *path;
    struct nuioa_error *err;
    struct nuioa_latency *latency;
    unsigned line;
    uint32_t rows;
};

static int malformed(const struct reader *r, const char *what)
{
    return nuioa_fail(r->err, -EINVAL, "%s:%u: %s", r->path, r->line, what);
}

/* Remote access may be faster than local access in a measurement, so a negative number is allowed
 * here: nuioa_link_graph_infer refuses it. */
static int parse_ns(const char *word, double *value)
{
    bool negative = *word == '-';
    if (nuioa_parse_decimal(word + negative, value) || *value > VALUE_NS_MAX)
        return -EINVAL;
    *value = negative ? -*value : *value;
    return 0;
}

static int read_row(struct reader *r, char *rest)
{
    struct nuioa_latency *latency = r->latency;
    double row[NUIOA_LATENCY_COUNT_MAX];
    uint32_t words = 0;
    for (const char *word; (word = nuioa_next_word(&rest, blanks)); words++) {
        if (words == NUIOA_LATENCY_COUNT_MAX)
            return malformed(r, "more columns than a machine has NUMA nodes (512)");
        if (parse_ns(word, &row[words]))
            return malformed(r, "expected numbers of nanoseconds, such as 37 or 36.5");
    }
    if (!words)
        return 0;
    if (!latency->over_ns && nuioa_latency_init(latency, words))
        return nuioa_fail(r->err, -ENOMEM, "%s: out of memory", r->path);
    if (words != latency->count)
        return malformed(r, "not as many numbers as in the first row");
    if (r->rows == latency->count)
        return malformed(r, "more rows than columns");
    memcpy(&latency->over_ns[(size_t)r->rows++ * words], row, words * sizeof(*row));
    return 0;
}

/* Brings the matrix into its final form: if the diagonal holds full latencies, they are subtracted;
 * if it is all zeros, the matrix has that form already. */
static int settle_diagonal(struct reader *r)
{
    struct nuioa_latency *latency = r->latency;
    uint32_t count = latency->count, zeros = 0;
    for (uint32_t i = 0; i < count; i++) {
        double local = latency->over_ns[(size_t)i * count + i];
        if (local < 0)
            return nuioa_fail(r->err, -EINVAL, "%s: row %u: a local access of less than 0 ns",
                              r->path, i);
        zeros += local == 0;
    }
    if (zeros && zeros != count)
        return nuioa_fail(r->err, -EINVAL,
                          "%s: the diagonal must be all zeros (nanoseconds over local access) or "
                          "have none (nanoseconds)",
                          r->path);
    if (!zeros)
        nuioa_latency_from_full(latency, latency->over_ns);
    return 0;
}

static int read_text(struct reader *r, char *text, size_t length)
{
    if (memchr(text, '\0', length))
        return nuioa_fail(r->err, -EINVAL, "%s: not a text file", r->path);
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r->line++;
        line[strcspn(line, "#")] = '\0';
        int rc = read_row(r, line);
        if (rc)
            return rc;
    }
    if (!r->rows)
        return nuioa_fail(r->err, -EINVAL,
                          "%s: no matrix in it; one has a row of nanoseconds on each line",
                          r->path);
    if (r->rows != r->latency->count)
        return malformed(r, "fewer rows than columns");
    return settle_diagonal(r);
}

int nuioa_latency_parse(struct nuioa_latency *latency, const char *path, char *text, size_t length,
                        struct nuioa_error *err)
{
    struct reader r = { .path = path, .err = err, .latency = latency };
    *latency = (struct nuioa_latency){ 0 };
    int rc = read_text(&r, text, length);
    if (rc)
        nuioa_latency_free(latency);
    return rc;
}

int nuioa_latency_read(struct nuioa_latency *latency, const char *path, struct nuioa_error *err)
{
    bool standard = !strcmp(path, "-");
    FILE *file = standard ? stdin : fopen(path, "re");
    *latency = (struct nuioa_latency){ 0 };
    if (!file)
        return nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    char *text = calloc(1, FILE_BYTES_MAX + 1);
    size_t length = text ? fread(text, 1, FILE_BYTES_MAX, file) : 0;
    int rc = nuioa_fail(err, -EINVAL, "%s: not a readable file of less than 8 MiB", path);
    if (text && !ferror(file) && length < FILE_BYTES_MAX)
        rc = nuioa_latency_parse(latency, standard ? "standard input" : path, text, length, err);
    if (!standard)
        fclose(file);
    free(text);
    return rc;
}
