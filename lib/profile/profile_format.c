/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile_format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "util/word.h"

#define FLOW_ROOM_MIN 1024

int profile_fail(const struct profile_reader *r, const char *fmt, ...)
{
    char text[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return nuioa_fail(r->err, -EINVAL, "%s:%lu: %s", r->path, r->line, text);
}

/* Nearly all numbers are integers, which are parsed much faster. */
int profile_number(const struct profile_reader *r, const char *field, double *value)
{
    uint64_t whole;
    if (!nuioa_parse_u64(field, (uint64_t)NUIOA_PROFILE_NUMBER_MAX, &whole))
        *value = (double)whole;
    else if (nuioa_parse_decimal(field, value) || *value > NUIOA_PROFILE_NUMBER_MAX)
        return profile_fail(r, "'%.40s' is not a number from 0 to 1e18", field);
    return 0;
}

unsigned profile_split(char *line, char **fields, unsigned max)
{
    unsigned count = 0;
    while (count < max && (fields[count] = nuioa_next_word(&line, " \t\r\n")))
        count++;
    return count;
}

/* Returns how many flows are allocated for `count` flows: a power of two, so that it follows from
 * the count. */
static uint32_t flow_room(uint32_t count)
{
    uint32_t room = count ? FLOW_ROOM_MIN : 0;
    while (room < count)
        room *= 2;
    return room;
}

int profile_make_room(struct nuioa_profile *profile, uint32_t more)
{
    uint32_t wanted = flow_room(profile->flow_count + more);
    if (wanted <= flow_room(profile->flow_count))
        return 0;
    struct nuioa_flow *flows = realloc(profile->flows, wanted * sizeof(*flows));
    if (!flows)
        return -ENOMEM;
    profile->flows = flows;
    return 0;
}

static int out_of_memory(const struct profile_reader *r)
{
    return nuioa_fail(r->err, -ENOMEM, "%s: out of memory", r->path);
}

int profile_add_flow(struct profile_reader *r, const struct nuioa_flow *flow)
{
    struct nuioa_profile *p = r->profile;
    p->has_large |= flow->large_bytes > 0;
    if (r->wanted && !r->wanted[flow->source] && !r->wanted[flow->target])
        return 0;
    if (p->flow_count == NUIOA_PROFILE_FLOWS_MAX)
        return profile_fail(r, "more than %u pairs", NUIOA_PROFILE_FLOWS_MAX);
    if (profile_make_room(p, 1))
        return out_of_memory(r);
    p->flows[p->flow_count++] = *flow;
    return 0;
}

int profile_set_ranks(struct profile_reader *r, uint32_t rank_count)
{
    struct nuioa_profile *p = r->profile;
    p->ranks = calloc(rank_count, sizeof(*p->ranks));
    if (!p->ranks)
        return out_of_memory(r);
    p->rank_count = rank_count;
    return 0;
}
