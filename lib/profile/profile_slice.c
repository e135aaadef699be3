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
    const struct nuioa_profile *profile; /* with an index */
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
    s->members = malloc(room * sizeof(*s->members));
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

/* Goes through the flows of one rank, whose local rank is `me`. With pairs == NULL it adds the
 * traffic with other nodes to s->off; otherwise it stores the flows to local ranks in `pairs`.
 * Returns the number of flows to local ranks. Only the sender counts a flow, so that none is
 * counted twice. */
static uint32_t walk_flows(struct slicer *s, uint32_t rank, uint32_t me, struct nuioa_pair *pairs)
{
    const struct nuioa_profile *p = s->profile;
    struct nuioa_traffic *off = &s->off[me];
    uint32_t found = 0;
    for (uint32_t at = p->first_of[rank]; at < p->first_of[rank + 1]; at++) {
        const struct nuioa_flow *f = &p->flows[p->flows_of[at]];
        bool sends = f->source == rank;
        uint32_t other = local_of(s, sends ? f->target : f->source);
        s->paired[me] = true;
        if (other == NOT_LOCAL && !pairs) {
            *(sends ? &off->sent_bytes : &off->recv_bytes) += f->bytes;
            *(sends ? &off->sent_msgs : &off->recv_msgs) += f->msgs;
            off->large_recv_bytes += sends ? 0 : f->large_bytes;
        } else if (other != NOT_LOCAL && other != me && sends) {
            if (pairs)
                pairs[found] = (struct nuioa_pair){
                    .first = me < other ? me : other,
                    .second = me < other ? other : me,
                    .bytes = s->policy == NUIOA_POLICY_LATENCY ? f->msgs : f->bytes,
                };
            found++;
        }
    }
    return found;
}

static uint32_t walk(struct slicer *s, const uint32_t *ranks, struct nuioa_pair *pairs)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (ranks[i] < s->profile->rank_count)
            found += walk_flows(s, ranks[i], i, pairs ? pairs + found : NULL);
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
    uint32_t found = walk(s, ranks, NULL);
    if (found) {
        *pairs = reallocarray(NULL, found, sizeof(**pairs));
        if (!*pairs)
            return -ENOMEM;
        walk(s, ranks, *pairs);
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
    struct nuioa_profile indexed = *profile;
    struct slicer s = { .profile = &indexed, .policy = policy, .count = count };
    *pairs = NULL;
    *pair_count = 0;
    int rc = 0;
    if (!indexed.first_of)
        rc = nuioa_profile_index(&indexed);
    if (!rc)
        rc = slice(&s, ranks, weight, pairs, pair_count, warnings);
    slicer_close(&s);
    if (!profile->first_of) {
        free(indexed.first_of);
        free(indexed.flows_of);
    }
    return rc;
}
