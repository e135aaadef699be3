/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENT_SHARE 0.05  /* the weight of a sent byte; that of a received one is 1 */
#define SMALL_SHARE 0.18 /* the weight of a byte received in a small message */

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
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return x->collective - y->collective;
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

/* Returns for each rank whether a flow mentions it: malloc'd, NULL without memory. */
static bool *find_paired(const struct nuioa_profile *profile)
{
    bool *paired = calloc(profile->rank_count, sizeof(*paired));
    for (uint32_t i = 0; paired && i < profile->flow_count; i++)
        paired[profile->flows[i].source] = paired[profile->flows[i].target] = true;
    return paired;
}

int nuioa_profile_traffic(const struct nuioa_profile *profile, const uint32_t *node_of,
                          struct nuioa_traffic *traffic)
{
    bool *paired = find_paired(profile);
    if (!paired)
        return -ENOMEM;
    memset(traffic, 0, profile->rank_count * sizeof(*traffic));
    for (uint32_t i = 0; i < profile->flow_count; i++) {
        const struct nuioa_flow *f = &profile->flows[i];
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

double nuioa_traffic_weight(const struct nuioa_traffic *t, enum nuioa_policy policy, bool has_large)
{
    if (policy == NUIOA_POLICY_LATENCY)
        return t->sent_msgs + t->recv_msgs;
    double large = has_large ? fmin(t->large_recv_bytes, t->recv_bytes) : t->recv_bytes;
    return large + SMALL_SHARE * (t->recv_bytes - large) + SENT_SHARE * t->sent_bytes;
}

/* Returns the number of ranks whose `rank` line is not used, and the lowest in *first. */
static uint32_t count_unused(const struct nuioa_profile *profile, uint32_t *first)
{
    uint32_t count = 0;
    bool *paired = find_paired(profile);
    for (uint32_t rank = 0; paired && rank < profile->rank_count; rank++) {
        const struct nuioa_traffic *t = &profile->ranks[rank];
        if (!paired[rank] || t->sent_bytes + t->recv_bytes + t->sent_msgs + t->recv_msgs <= 0)
            continue;
        if (!count++)
            *first = rank;
    }
    free(paired);
    return count;
}

const char *nuioa_profile_why(const struct nuioa_profile *profile, char text[NUIOA_PROFILE_WHY_MAX])
{
    if (profile->missing)
        snprintf(text, NUIOA_PROFILE_WHY_MAX,
                 "Open MPI's files lack %u of %u ranks, the first is rank %u. Add them, or record "
                 "again",
                 profile->missing, profile->rank_count, profile->first_missing);
    else
        snprintf(text, NUIOA_PROFILE_WHY_MAX, "the recording was cut short or lacked memory");
    return text;
}

void nuioa_profile_warn(const struct nuioa_profile *profile, struct nuioa_warnings *warnings)
{
    uint32_t first = 0, unused = count_unused(profile, &first);
    char why[NUIOA_PROFILE_WHY_MAX];
    if (profile->partial)
        nuioa_warn(warnings, "the profile is partial: %s", nuioa_profile_why(profile, why));
    if (unused)
        nuioa_warn(
            warnings,
            "the profile has 'rank' and 'pair' lines for %u rank%s, the first is rank %u: 'rank' "
            "lines are ignored. Remove the 'rank' or the 'pair' lines",
            unused, unused == 1 ? "" : "s", first);
}
