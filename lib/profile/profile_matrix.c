/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "profile/profile_format.h"
#include "util/word.h"

#define BLANK " \t\r\n"

/* The number of ranks is that of the columns of the first row. */
static int count_ranks(struct profile_reader *r, const char *line)
{
    uint32_t count = 0;
    for (const char *c = line + strspn(line, BLANK); *c; c += strspn(c, BLANK)) {
        if (count++ == NUIOA_PROFILE_RANKS_MAX)
            return profile_fail(r, "more than %u columns", NUIOA_PROFILE_RANKS_MAX);
        c += strcspn(c, BLANK);
    }
    return profile_set_ranks(r, count);
}

static struct nuioa_flow to_flow(enum nuioa_metric metric, uint32_t source, uint32_t target,
                                 double value)
{
    struct nuioa_flow flow = { .source = source, .target = target };
    if (metric == NUIOA_METRIC_MSG)
        flow.msgs = value;
    else
        flow.bytes = value;
    if (metric == NUIOA_METRIC_AVG)
        flow.msgs = 1;
    return flow;
}

static int read_cell(struct profile_reader *r, const char *field, uint32_t column)
{
    double value;
    int rc = profile_number(r, field, &value);
    if (rc || value <= 0 || column == r->row)
        return rc;
    struct nuioa_flow flow = to_flow(r->metric, r->row, column, value);
    return profile_add_flow(r, &flow);
}

static int read_row(struct profile_reader *r, char *line)
{
    uint32_t column = 0;
    int rc = 0;
    line[strcspn(line, "#")] = '\0';
    if (!r->row)
        rc = count_ranks(r, line);
    uint32_t ranks = r->profile->rank_count;
    if (!rc && r->row == ranks)
        return profile_fail(r, "more rows than the %u columns of the first", ranks);
    for (char *f; !rc && (f = nuioa_next_word(&line, BLANK));) {
        if (column == ranks)
            return profile_fail(r, "more than the %u columns of the first row", ranks);
        rc = read_cell(r, f, column++);
    }
    if (!rc && column != ranks)
        rc = profile_fail(r, "%u columns, but the first row has %u", column, ranks);
    r->row++;
    return rc;
}

static int finish(struct profile_reader *r)
{
    uint32_t ranks = r->profile->rank_count;
    if (r->row && r->row == ranks)
        return 0;
    return nuioa_fail(r->err, -EINVAL, "%s: not a square matrix: %u rows of %u columns", r->path,
                      r->row, ranks);
}

static bool recognises(const char *line)
{
    return strspn(line, "+-.0123456789") > 0;
}

const struct profile_format profile_matrix = { recognises, read_row, finish };
