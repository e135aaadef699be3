#include "profile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "number.h"

#define SENT_SHARE 0.05

/* The fields of a line, and where it is for messages. */
enum { FIELDS_MAX = 7 };

struct reader {
    const char *path;
    unsigned long line;
    struct nuioa_profile *profile;
    bool *seen; /* [rank_count]: had a `rank` line */
    uint32_t flow_room;
    struct nuioa_error *err;
};

static int __attribute__((format(printf, 2, 3)))
fail_at(const struct reader *r, const char *fmt, ...)
{
    char text[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return nuioa_fail(r->err, -EINVAL, "%s:%lu: %s", r->path, r->line, text);
}

/* Cuts the line into its first FIELDS_MAX fields; returns how many. */
static unsigned split(char *line, char *fields[FIELDS_MAX])
{
    char *save = NULL;
    unsigned count = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *f = strtok_r(line, " \t\r\n", &save); f && count < FIELDS_MAX;
         f = strtok_r(NULL, " \t\r\n", &save))
        fields[count++] = f;
    return count;
}

static int read_number(const struct reader *r, const char *field, double *value)
{
    if (nuioa_parse_decimal(field, value) || *value > NUIOA_PROFILE_NUMBER_MAX)
        return fail_at(r, "'%.40s' is not a number from 0 to 1e18", field);
    return 0;
}

static int read_rank(const struct reader *r, const char *field, uint32_t *rank)
{
    uint32_t count = r->profile->rank_count;
    if (nuioa_parse_u32(field, count - 1, rank))
        return fail_at(r, "'%.40s' is not a rank from 0 to %u", field, count - 1);
    return 0;
}

static int read_header(struct reader *r, char *fields[], unsigned count)
{
    if (count >= 2 && !strcmp(fields[0], "nuioa-profile") && !strcmp(fields[1], "1"))
        return 0;
    return fail_at(r, "not a profile; the first line of one is 'nuioa-profile 1'");
}

static int read_ranks(struct reader *r, char *fields[], unsigned count)
{
    struct nuioa_profile *p = r->profile;
    if (p->rank_count)
        return fail_at(r, "a second 'ranks' line");
    uint32_t ranks;
    if (count < 2 || nuioa_parse_u32(fields[1], NUIOA_PROFILE_RANKS_MAX, &ranks) || ranks == 0)
        return fail_at(r, "'ranks' needs a number from 1 to %u", NUIOA_PROFILE_RANKS_MAX);
    p->ranks = calloc(ranks, sizeof(*p->ranks));
    r->seen = calloc(ranks, sizeof(*r->seen));
    if (!p->ranks || !r->seen)
        return nuioa_fail(r->err, -ENOMEM, "%s: out of memory", r->path);
    p->rank_count = ranks;
    return 0;
}

static int read_traffic(struct reader *r, char *fields[], unsigned count)
{
    if (count < 7)
        return fail_at(r, "'rank' needs a rank and 5 numbers");
    uint32_t rank;
    int rc = read_rank(r, fields[1], &rank);
    if (rc)
        return rc;
    if (r->seen[rank])
        return fail_at(r, "a second line for rank %u", rank);
    r->seen[rank] = true;
    struct nuioa_traffic *t = &r->profile->ranks[rank];
    double *const numbers[] = { &t->sent_bytes, &t->recv_bytes, &t->sent_msgs, &t->recv_msgs,
                                &t->large_recv_bytes };
    for (unsigned i = 0; i < 5 && !rc; i++)
        rc = read_number(r, fields[2 + i], numbers[i]);
    return rc;
}

static int add_flow(struct reader *r, const struct nuioa_flow *flow)
{
    struct nuioa_profile *p = r->profile;
    if (p->flow_count == NUIOA_PROFILE_FLOWS_MAX)
        return fail_at(r, "more than %u pairs", NUIOA_PROFILE_FLOWS_MAX);
    if (p->flow_count == r->flow_room) {
        uint32_t room = r->flow_room ? 2 * r->flow_room : 1024;
        struct nuioa_flow *flows = realloc(p->flows, room * sizeof(*flows));
        if (!flows)
            return nuioa_fail(r->err, -ENOMEM, "%s: out of memory", r->path);
        p->flows = flows;
        r->flow_room = room;
    }
    p->flows[p->flow_count++] = *flow;
    return 0;
}

static int read_pair(struct reader *r, char *fields[], unsigned count)
{
    if (count < 6)
        return fail_at(r, "'pair' needs two ranks and 3 numbers");
    struct nuioa_flow flow;
    double large;
    int rc = read_rank(r, fields[1], &flow.source);
    if (!rc)
        rc = read_rank(r, fields[2], &flow.target);
    if (!rc)
        rc = read_number(r, fields[3], &flow.bytes);
    if (!rc)
        rc = read_number(r, fields[4], &flow.msgs);
    if (!rc)
        rc = read_number(r, fields[5], &large);
    if (rc)
        return rc;
    return add_flow(r, &flow);
}

static int read_line(struct reader *r, char *line, bool *headed)
{
    char *fields[FIELDS_MAX];
    unsigned count = split(line, fields);
    if (!count)
        return 0;
    if (!*headed) {
        *headed = true;
        return read_header(r, fields, count);
    }
    if (!strcmp(fields[0], "ranks"))
        return read_ranks(r, fields, count);
    bool traffic = !strcmp(fields[0], "rank");
    if (!traffic && strcmp(fields[0], "pair"))
        return fail_at(r, "'%.40s' is not one of ranks, rank, pair", fields[0]);
    if (!r->profile->rank_count)
        return fail_at(r, "'ranks N' must come before the first '%s'", fields[0]);
    return traffic ? read_traffic(r, fields, count) : read_pair(r, fields, count);
}

static int read_lines(struct reader *r, FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool headed = false;
    int rc = 0;
    while (!rc && (length = getline(&line, &room, in)) >= 0) {
        r->line++;
        if (strlen(line) != (size_t)length)
            rc = fail_at(r, "not a text file");
        else
            rc = read_line(r, line, &headed);
    }
    if (!rc && ferror(in))
        rc = nuioa_fail(r->err, -EIO, "%s: cannot be read", r->path);
    if (!rc && !r->profile->rank_count)
        rc = nuioa_fail(r->err, -EINVAL,
                        "%s: not a profile; one has the lines 'nuioa-profile 1' and 'ranks N'",
                        r->path);
    free(line);
    return rc;
}

int nuioa_profile_read(const char *path, struct nuioa_profile *profile, struct nuioa_error *err)
{
    memset(profile, 0, sizeof(*profile));
    struct reader r = { .path = path, .profile = profile, .err = err };
    FILE *in = fopen(path, "re");
    struct stat st;
    int rc;
    if (!in || fstat(fileno(in), &st))
        rc = nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        rc = nuioa_fail(err, -EINVAL, "%s: not a regular file", path);
    else if (st.st_size > NUIOA_PROFILE_BYTES_MAX)
        rc = nuioa_fail(err, -EFBIG, "%s: larger than %ld MB", path, NUIOA_PROFILE_BYTES_MAX >> 20);
    else
        rc = read_lines(&r, in);
    if (in)
        fclose(in);
    free(r.seen);
    if (rc)
        nuioa_profile_free(profile);
    return rc;
}

void nuioa_profile_free(struct nuioa_profile *profile)
{
    free(profile->ranks);
    free(profile->flows);
    memset(profile, 0, sizeof(*profile));
}

/* --- one node's part ------------------------------------------------------------------------- */

#define NOT_LOCAL UINT32_MAX

static int compare_pairs(const void *a, const void *b)
{
    const struct nuioa_pair *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

/* Sorts and adds up pairs that are there more than once. Returns how many are left. */
static uint32_t merge_pairs(struct nuioa_pair *pairs, uint32_t count)
{
    uint32_t kept = 0;
    if (count)
        qsort(pairs, count, sizeof(*pairs), compare_pairs);
    for (uint32_t i = 0; i < count; i++) {
        if (kept && !compare_pairs(&pairs[kept - 1], &pairs[i]))
            pairs[kept - 1].bytes += pairs[i].bytes;
        else
            pairs[kept++] = pairs[i];
    }
    return kept;
}

static double weigh(const struct nuioa_traffic *t, enum nuioa_policy policy)
{
    if (policy == NUIOA_POLICY_LATENCY)
        return t->sent_msgs + t->recv_msgs;
    return t->recv_bytes + SENT_SHARE * t->sent_bytes;
}

/* First pass (pairs NULL): adds traffic off the node to `off`, marks ranks that appear and returns
 * how many flows are among local ranks. Second pass: stores these. */
static uint32_t walk_flows(const struct nuioa_profile *profile, enum nuioa_policy policy,
                           const uint32_t *local_of, struct nuioa_traffic *off, bool *paired,
                           struct nuioa_pair *pairs)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < profile->flow_count; i++) {
        const struct nuioa_flow *f = &profile->flows[i];
        uint32_t from = local_of[f->source], to = local_of[f->target];
        if (from != NOT_LOCAL)
            paired[from] = true;
        if (to != NOT_LOCAL)
            paired[to] = true;
        if (from != NOT_LOCAL && to != NOT_LOCAL) {
            if (from == to)
                continue;
            if (pairs)
                pairs[found] = (struct nuioa_pair){
                    .first = from < to ? from : to,
                    .second = from < to ? to : from,
                    .bytes = policy == NUIOA_POLICY_LATENCY ? f->msgs : f->bytes,
                };
            found++;
        } else if (!pairs && from != NOT_LOCAL) {
            off[from].sent_bytes += f->bytes;
            off[from].sent_msgs += f->msgs;
        } else if (!pairs && to != NOT_LOCAL) {
            off[to].recv_bytes += f->bytes;
            off[to].recv_msgs += f->msgs;
        }
    }
    return found;
}

static void weigh_ranks(const struct nuioa_profile *profile, enum nuioa_policy policy,
                        const uint32_t *ranks, uint32_t count, const struct nuioa_traffic *off,
                        const bool *paired, double *weight, struct nuioa_warnings *warnings)
{
    for (uint32_t i = 0; i < count; i++) {
        bool known = ranks[i] < profile->rank_count;
        const struct nuioa_traffic *said = known ? &profile->ranks[ranks[i]] : NULL;
        weight[i] = weigh(said && !paired[i] ? said : &off[i], policy);
        if (!known)
            nuioa_warn(warnings, "the profile is of %u ranks: higher ones have weight 0",
                       profile->rank_count);
        else if (paired[i] && weigh(said, policy) > 0)
            nuioa_warn(warnings, "'rank' lines of the profile are not used for ranks with 'pair's");
    }
}

int nuioa_profile_slice(const struct nuioa_profile *profile, enum nuioa_policy policy,
                        const uint32_t *ranks, uint32_t count, double *weight,
                        struct nuioa_pair **pairs, uint32_t *pair_count,
                        struct nuioa_warnings *warnings)
{
    *pairs = NULL;
    *pair_count = 0;
    uint32_t *local_of = malloc(profile->rank_count * sizeof(*local_of));
    struct nuioa_traffic *off = calloc(count ? count : 1, sizeof(*off));
    bool *paired = calloc(count ? count : 1, sizeof(*paired));
    int rc = local_of && off && paired ? 0 : -ENOMEM;
    if (rc)
        goto out;

    memset(local_of, 0xff, profile->rank_count * sizeof(*local_of));
    for (uint32_t i = 0; i < count; i++)
        if (ranks[i] < profile->rank_count)
            local_of[ranks[i]] = i;
    uint32_t found = walk_flows(profile, policy, local_of, off, paired, NULL);
    if (found) {
        *pairs = malloc(found * sizeof(**pairs));
        if (!*pairs) {
            rc = -ENOMEM;
            goto out;
        }
        walk_flows(profile, policy, local_of, off, paired, *pairs);
        *pair_count = merge_pairs(*pairs, found);
    }
    weigh_ranks(profile, policy, ranks, count, off, paired, weight, warnings);
out:
    free(local_of);
    free(off);
    free(paired);
    return rc;
}
