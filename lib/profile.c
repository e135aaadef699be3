#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SENT_SHARE 0.05

void nuioa_profile_free(struct nuioa_profile *profile)
{
    free(profile->ranks);
    free(profile->flows);
    memset(profile, 0, sizeof(*profile));
}

static int compare_flows(const void *a, const void *b)
{
    const struct nuioa_flow *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

void nuioa_profile_merge(struct nuioa_profile *profile)
{
    struct nuioa_flow *flows = profile->flows;
    uint32_t kept = 0;
    if (profile->flow_count)
        qsort(flows, profile->flow_count, sizeof(*flows), compare_flows);
    for (uint32_t i = 0; i < profile->flow_count; i++) {
        if (kept && !compare_flows(&flows[kept - 1], &flows[i])) {
            flows[kept - 1].bytes += flows[i].bytes;
            flows[kept - 1].msgs += flows[i].msgs;
            flows[kept - 1].large_bytes += flows[i].large_bytes;
        } else {
            flows[kept++] = flows[i];
        }
    }
    profile->flow_count = kept;
}

int nuioa_profile_traffic(const struct nuioa_profile *profile, const uint32_t *node_of,
                          struct nuioa_traffic *traffic)
{
    bool *paired = calloc(profile->rank_count, sizeof(*paired));
    if (!paired)
        return -ENOMEM;
    memset(traffic, 0, profile->rank_count * sizeof(*traffic));
    for (uint32_t i = 0; i < profile->flow_count; i++) {
        const struct nuioa_flow *f = &profile->flows[i];
        paired[f->source] = paired[f->target] = true;
        if (node_of ? node_of[f->source] == node_of[f->target] : f->source == f->target)
            continue;
        traffic[f->source].sent_bytes += f->bytes;
        traffic[f->source].sent_msgs += f->msgs;
        traffic[f->target].recv_bytes += f->bytes;
        traffic[f->target].recv_msgs += f->msgs;
        traffic[f->target].large_recv_bytes += f->large_bytes;
    }
    for (uint32_t rank = 0; rank < profile->rank_count; rank++)
        if (!paired[rank])
            traffic[rank] = profile->ranks[rank];
    free(paired);
    return 0;
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
    if (profile->partial)
        nuioa_warn(warnings, "the profile is partial: its recording was cut short");
out:
    free(local_of);
    free(off);
    free(paired);
    return rc;
}
