/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile_slice.h"

#include <errno.h>
#include <stdlib.h>

#define NOT_LOCAL UINT32_MAX

/* A rank of the node. Sorted, they are searched by rank. */
struct member {
    uint32_t rank, local;
};

struct slicer {
    const struct nuioa_profile *profile;
    enum nuioa_policy policy;
    uint32_t count;
    struct member *members;    /* [count], ascending by rank */
    struct nuioa_traffic *off; /* [count]: traffic of each local rank with other nodes */
    bool *paired;              /* [count]: whether a flow mentions the local rank */
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Returns the local rank, or NOT_LOCAL. The ranks of a node are often consecutive; then no search
 * is needed. */
static uint32_t local_of(const struct slicer *s, uint32_t rank)
{
    uint32_t first = s->members[0].rank;
    if (rank >= first && rank - first < s->count && s->members[rank - first].rank == rank)
        return s->members[rank - first].local;
    struct member wanted = { rank, 0 };
    const struct member *hit =
        bsearch(&wanted, s->members, s->count, sizeof(wanted), compare_members);
    return hit ? hit->local : NOT_LOCAL;
}

/* Returns 0, -ENOMEM, or -EINVAL if a rank is listed twice. */
static int slicer_open(struct slicer *s, const uint32_t *ranks)
{
    size_t room = s->count ? s->count : 1;
    s->members = calloc(room, sizeof(*s->members));
    s->off = calloc(room, sizeof(*s->off));
    s->paired = calloc(room, sizeof(*s->paired));
    if (!s->members || !s->off || !s->paired)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->count; i++)
        s->members[i] = (struct member){ ranks[i], i };
    qsort(s->members, s->count, sizeof(*s->members), compare_members);
    for (uint32_t i = 1; i < s->count; i++)
        if (s->members[i].rank == s->members[i - 1].rank)
            return -EINVAL;
    return 0;
}

static void slicer_close(struct slicer *s)
{
    free(s->members);
    free(s->off);
    free(s->paired);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct nuioa_pair *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

/* Sorts pairs[count] and adds up those of the same two. Returns how many are left. */
static uint32_t merge_pairs(struct nuioa_pair *pairs, uint32_t count)
{
    uint32_t kept = 0;
    qsort(pairs, count, sizeof(*pairs), compare_pairs);
    for (uint32_t i = 0; i < count; i++) {
        if (kept && !compare_pairs(&pairs[kept - 1], &pairs[i]))
            pairs[kept - 1].bytes += pairs[i].bytes;
        else
            pairs[kept++] = pairs[i];
    }
    return kept;
}

/* Goes through all flows. With pairs == NULL it adds those that leave or reach the node to s->off;
 * otherwise it stores those between two of its ranks in `pairs`. Returns the number of these. */
static uint32_t walk(struct slicer *s, struct nuioa_pair *pairs)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->profile->flow_count; i++) {
        const struct nuioa_flow *f = &s->profile->flows[i];
        uint32_t from = local_of(s, f->source), to = local_of(s, f->target);
        if (from != NOT_LOCAL)
            s->paired[from] = true;
        if (to != NOT_LOCAL)
            s->paired[to] = true;
        if (from != NOT_LOCAL && to != NOT_LOCAL && from != to) {
            if (pairs)
                pairs[found] = (struct nuioa_pair){
                    .first = from < to ? from : to,
                    .second = from < to ? to : from,
                    .bytes = s->policy == NUIOA_POLICY_LATENCY ? f->msgs : f->bytes,
                };
            found++;
        } else if (!pairs && from != NOT_LOCAL && to == NOT_LOCAL) {
            s->off[from].sent_bytes += f->bytes;
            s->off[from].sent_msgs += f->msgs;
        } else if (!pairs && from == NOT_LOCAL && to != NOT_LOCAL) {
            s->off[to].recv_bytes += f->bytes;
            s->off[to].recv_msgs += f->msgs;
            s->off[to].large_recv_bytes += f->large_bytes;
        }
    }
    return found;
}

static void weigh_ranks(const struct slicer *s, const uint32_t *ranks, double *weight,
                        struct nuioa_warnings *warnings)
{
    const struct nuioa_profile *p = s->profile;
    for (uint32_t i = 0; i < s->count; i++) {
        bool known = ranks[i] < p->rank_count;
        const struct nuioa_traffic *traffic =
            known && !s->paired[i] ? &p->ranks[ranks[i]] : &s->off[i];
        weight[i] = nuioa_traffic_weight(traffic, s->policy, p->has_large);
        if (!known)
            nuioa_warn(warnings, "the profile has %u ranks: higher ones have weight 0",
                       p->rank_count);
    }
}

static int slice(struct slicer *s, const uint32_t *ranks, double *weight, struct nuioa_pair **pairs,
                 uint32_t *pair_count, struct nuioa_warnings *warnings)
{
    int rc = slicer_open(s, ranks);
    if (rc)
        return rc;
    uint32_t found = walk(s, NULL);
    if (found) {
        *pairs = reallocarray(NULL, found, sizeof(**pairs));
        if (!*pairs)
            return -ENOMEM;
        walk(s, *pairs);
        *pair_count = merge_pairs(*pairs, found);
    }
    weigh_ranks(s, ranks, weight, warnings);
    return 0;
}

int nuioa_profile_slice(const struct nuioa_profile *profile, enum nuioa_policy policy,
                        const uint32_t *ranks, uint32_t count, double *weight,
                        struct nuioa_pair **pairs, uint32_t *pair_count,
                        struct nuioa_warnings *warnings)
{
    struct slicer s = { .profile = profile, .policy = policy, .count = count };
    *pairs = NULL;
    *pair_count = 0;
    int rc = slice(&s, ranks, weight, pairs, pair_count, warnings);
    slicer_close(&s);
    return rc;
}
