/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "profile/profile_format.h"
#include "util/number.h"

/* A line is "E <tab> FROM <tab> TO <tab> N bytes <tab> M msgs sent <tab> 0,0,3,...". The last
 * field, a histogram of sizes, is not used, because it does not give the bytes in large messages.
 * The letters are those of Open MPI's component common/monitoring. */
enum { LETTER, FROM, TO, BYTES, BYTES_WORD, MSGS, MSGS_WORD, FIELDS };

static bool is_traffic(const char *word)
{
    return word[0] && !word[1] && strchr("EISRC", word[0]);
}

/* For each communicator a D line names its members, and the other lines are sums over its
 * collectives. */
static bool is_summary(const char *word)
{
    return !strcmp(word, "D") || !strcmp(word, "O2A") || !strcmp(word, "A2O") ||
           !strcmp(word, "A2A");
}

static int read_rank(struct profile_reader *r, const char *field, uint32_t *rank)
{
    if (nuioa_parse_u32(field, NUIOA_PROFILE_RANKS_MAX - 1, rank))
        return profile_fail(r, "'%.40s' is not a rank from 0 to %u", field,
                            NUIOA_PROFILE_RANKS_MAX - 1);
    if (*rank >= r->profile->rank_count)
        r->profile->rank_count = *rank + 1;
    return 0;
}

static int read_line(struct profile_reader *r, char *line)
{
    char *fields[FIELDS];
    struct nuioa_flow flow = { 0 };
    unsigned count = profile_split(line, fields, FIELDS);
    if (is_summary(fields[LETTER]))
        return 0;
    if (!is_traffic(fields[LETTER]))
        return profile_fail(r, "'%.40s' is not one of E, I, S, R, C", fields[LETTER]);
    if (count < FIELDS || strcmp(fields[BYTES_WORD], "bytes") || strcmp(fields[MSGS_WORD], "msgs"))
        return profile_fail(r, "not of the form '%s FROM TO N bytes M msgs sent'", fields[LETTER]);
    /* R: the rank reads from the other one, so the bytes go from the other one to it. */
    bool read = *fields[LETTER] == 'R';
    int rc = read_rank(r, fields[read ? TO : FROM], &flow.source);
    if (!rc)
        rc = read_rank(r, fields[read ? FROM : TO], &flow.target);
    if (!rc)
        rc = profile_number(r, fields[BYTES], &flow.bytes);
    if (!rc)
        rc = profile_number(r, fields[MSGS], &flow.msgs);
    if (rc || *fields[LETTER] == 'C' || flow.source == flow.target)
        return rc;
    return profile_add_flow(r, &flow);
}

bool profile_openmpi_rank(const char *path, uint32_t *rank)
{
    char number[12];
    const char *end = strrchr(path, '.'), *begin = end;
    while (begin && begin > path && begin[-1] >= '0' && begin[-1] <= '9')
        begin--;
    if (!begin || begin == end || (size_t)(end - begin) >= sizeof(number))
        return false;
    memcpy(number, begin, (size_t)(end - begin));
    number[end - begin] = '\0';
    return !nuioa_parse_u32(number, NUIOA_PROFILE_RANKS_MAX - 1, rank);
}

/* A rank that sent nothing counts too. */
static int finish(struct profile_reader *r)
{
    uint32_t rank;
    if (profile_openmpi_rank(r->path, &rank) && rank >= r->profile->rank_count)
        r->profile->rank_count = rank + 1;
    return r->profile->rank_count ? profile_set_ranks(r, r->profile->rank_count) : 0;
}

static bool recognises(const char *line)
{
    char word[4] = "";
    size_t length = strcspn(line, " \t\r\n");
    if (length < sizeof(word))
        memcpy(word, line, length);
    return is_traffic(word) || is_summary(word);
}

const struct profile_format profile_openmpi = { recognises, read_line, finish };
