/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_SLICE_H
#define NUIOA_PROFILE_PROFILE_SLICE_H

#include "mapping/problem.h"
#include "profile/profile.h"
#include "topology/policy.h"
#include "util/error.h"

/* A slice is the part of a profile that matters to one node: a weight for each of its ranks, and
 * the pairs among them. The node runs the global ranks in ranks[count], which are different and in
 * the order of their local ranks.
 *
 * Fills the caller's weight[count] with nuioa_traffic_weight (profile.h) of each rank's traffic
 * with other nodes, which is its traffic with any rank that is not in ranks[]. A `rank` line counts
 * only if no flow mentions that rank: `rank` lines are right for the layout that was recorded,
 * flows for any layout. A rank that the profile does not have gets weight 0; one warning says so
 * for all.
 *
 * Sets *pairs to a new array of the pairs by local rank, each once, and *pair_count to its length.
 * Their unit is bytes, for latency messages, so that both terms of J have one unit. The caller
 * frees the array with free(); it is NULL if there are none. Warnings are added to `warnings`,
 * which may be NULL.
 *
 * The cost is O(flows), which are those of these ranks if nuioa_profile_read_part has read the
 * profile. Returns 0; or -ENOMEM, or -EINVAL if a rank is listed twice, and weight[] is then
 * undefined and *pairs NULL. */
int nuioa_profile_slice(const struct nuioa_profile *profile, enum nuioa_policy policy,
                        const uint32_t *ranks, uint32_t count, double *weight,
                        struct nuioa_pair **pairs, uint32_t *pair_count,
                        struct nuioa_warnings *warnings);

#endif
