/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_format.h"
#include "util/number.h"

enum { FIELDS_MAX = 7 };

static int read_rank(const struct profile_reader *r, const char *field, uint32_t *rank)
{
    uint32_t count = r->profile->rank_count;
    if (nuioa_parse_u32(field, count - 1, rank))
        return profile_fail(r, "'%.40s' is not a rank from 0 to %u", field, count - 1);
    return 0;
}

static int read_header(struct profile_reader *r, char *fields[], unsigned count)
{
    r->headed = true;
    if (count >= 2 && !strcmp(fields[0], "nuioa-profile") && !strcmp(fields[1], "1"))
        return 0;
    return profile_fail(r, "not a profile; the first line of one is 'nuioa-profile 1'");
}

static int read_ranks(struct profile_reader *r, char *fields[], unsigned count)
{
    uint32_t ranks;
    if (r->profile->rank_count)
        return profile_fail(r, "a second 'ranks' line");
    if (count < 2 || nuioa_parse_u32(fields[1], NUIOA_PROFILE_RANKS_MAX, &ranks) || ranks == 0)
        return profile_fail(r, "'ranks' needs a number from 1 to %u", NUIOA_PROFILE_RANKS_MAX);
    r->profile->partial = count >= 3 && !strcmp(fields[2], "partial");
    r->seen = calloc(ranks, sizeof(*r->seen));
    if (!r->seen)
        return nuioa_fail(r->err, -ENOMEM, "%s: out of memory", r->path);
    return profile_set_ranks(r, ranks);
}

static int read_traffic(struct profile_reader *r, char *fields[], unsigned count)
{
    if (count < 7)
        return profile_fail(r, "'rank' needs a rank and 5 numbers");
    uint32_t rank;
    int rc = read_rank(r, fields[1], &rank);
    if (rc)
        return rc;
    if (r->seen[rank])
        return profile_fail(r, "a second line for rank %u", rank);
    r->seen[rank] = true;
    struct nuioa_traffic *t = &r->profile->ranks[rank];
    double *const numbers[] = { &t->sent_bytes, &t->recv_bytes, &t->sent_msgs, &t->recv_msgs,
                                &t->large_recv_bytes };
    for (unsigned i = 0; i < 5 && !rc; i++)
        rc = profile_number(r, fields[2 + i], numbers[i]);
    r->profile->has_large |= t->large_recv_bytes > 0;
    return rc;
}

static int read_pair(struct profile_reader *r, char *fields[], unsigned count)
{
    if (count < 6)
        return profile_fail(r, "'%s' needs two ranks and 3 numbers", fields[0]);
    struct nuioa_flow flow = { .collective = !strcmp(fields[0], "coll") };
    int rc = read_rank(r, fields[1], &flow.source);
    if (!rc)
        rc = read_rank(r, fields[2], &flow.target);
    if (!rc)
        rc = profile_number(r, fields[3], &flow.bytes);
    if (!rc)
        rc = profile_number(r, fields[4], &flow.msgs);
    if (!rc)
        rc = profile_number(r, fields[5], &flow.large_bytes);
    return rc ? rc : profile_add_flow(r, &flow);
}

/* Reads a rank, and moves *at behind it. Returns false if there is none of the profile's. */
static bool take_rank(const struct profile_reader *r, const char **at, uint32_t *rank)
{
    uint64_t sum = 0;
    *at += strspn(*at, " \t");
    size_t digits = strspn(*at, "0123456789");
    for (size_t i = 0; i < digits && i < 10; i++)
        sum = sum * 10 + (uint64_t)(*(*at)++ - '0');
    *rank = (uint32_t)sum;
    return digits && digits < 10 && sum < r->profile->rank_count;
}

/* Returns true if a line is a flow of ranks that the reader does not want, and says nothing else
 * that it needs. Most lines are, where a node reads its part, and the file was read before. */
static bool is_of_others(const struct profile_reader *r, const char *line)
{
    uint32_t source, target;
    const char *at = line + strlen("pair ");
    if (!r->wanted || !r->profile->rank_count ||
        (strncmp(line, "pair ", strlen("pair ")) && strncmp(line, "coll ", strlen("coll "))) ||
        !take_rank(r, &at, &source) || !take_rank(r, &at, &target) || r->wanted[source] ||
        r->wanted[target])
        return false;
    for (int i = 0; i < 2; i++) { /* bytes and messages; then those in large ones */
        at += strspn(at, " \t");
        at += strcspn(at, " \t\r\n#");
    }
    at += strspn(at, " \t");
    return r->profile->has_large || (at[0] == '0' && (!at[1] || strchr(" \t\r\n", at[1])));
}

static int read_line(struct profile_reader *r, char *line)
{
    if (is_of_others(r, line))
        return 0;
    char *fields[FIELDS_MAX];
    line[strcspn(line, "#")] = '\0';
    unsigned count = profile_split(line, fields, FIELDS_MAX);
    if (!r->headed)
        return read_header(r, fields, count);
    if (!strcmp(fields[0], "ranks"))
        return read_ranks(r, fields, count);
    bool traffic = !strcmp(fields[0], "rank");
    if (!traffic && strcmp(fields[0], "pair") && strcmp(fields[0], "coll"))
        return profile_fail(r, "'%.40s' is not one of ranks, rank, pair, coll", fields[0]);
    if (!r->profile->rank_count)
        return profile_fail(r, "'ranks N' must come before the first '%s'", fields[0]);
    return traffic ? read_traffic(r, fields, count) : read_pair(r, fields, count);
}

static int finish(struct profile_reader *r)
{
    if (r->profile->rank_count)
        return 0;
    return nuioa_fail(r->err, -EINVAL,
                      "%s: not a profile; one has the lines 'nuioa-profile 1' and 'ranks N'",
                      r->path);
}

/* A line that no other format recognises is of this one. */
const struct profile_format profile_text = { NULL, read_line, finish };
