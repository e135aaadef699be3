/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_H
#define NUIOA_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/policy.h"
#include "util/error.h"

/* A profile says how much the ranks of a job send to each other. The option --nuioa-trace records
 * it, or it is written by hand; doc/formats.md describes the formats. profile_read.h reads one,
 * profile_write.h writes one, profile_slice.h derives what it means for one node. */

/* The most ranks and flows of a profile. A file with more is refused. */
#define NUIOA_PROFILE_RANKS_MAX (1u << 20)
#define NUIOA_PROFILE_FLOWS_MAX (1u << 24)

/* The largest number in a profile. It is larger than any real count and keeps every sum finite. */
#define NUIOA_PROFILE_NUMBER_MAX 1e18

/* The traffic of one rank with other nodes: bytes, and numbers of messages. */
struct nuioa_traffic {
    double sent_bytes, recv_bytes;
    double sent_msgs, recv_msgs;
    double large_recv_bytes; /* the part of recv_bytes that came in large messages */
};

/* The traffic from one rank to another, a `pair` or `coll` line: bytes, number of messages, and the
 * part of the bytes that was in large messages. */
struct nuioa_flow {
    uint32_t source, target;
    double bytes, msgs, large_bytes;
    bool collective; /* `coll`: in a ring or chain that stands for a collective */
};

/* A profile owns its arrays; one that is all zeros is empty. Ranks are global. */
struct nuioa_profile {
    /* The recording was cut short, or had no memory for all messages; or Open MPI's monitoring has
     * left no file of some ranks. */
    bool partial;
    uint32_t missing; /* number of these ranks */
    uint32_t first_missing;
    uint32_t rank_count;
    bool open_ended;             /* the files do not give the number of ranks: there may be more */
    struct nuioa_traffic *ranks; /* [rank_count]; 0 for ranks without a `rank` line */
    uint32_t flow_count;
    struct nuioa_flow *flows; /* [flow_count] in the order of the file; a pair may be repeated */
    /* Some bytes of the profile are in large messages. If none are, the profile does not tell large
       messages from small ones: most formats cannot. */
    bool has_large;
};

/* The meaning of the numbers of a matrix, as in TreeMatch: bytes, messages, bytes per message. */
enum nuioa_metric { NUIOA_METRIC_SIZE, NUIOA_METRIC_MSG, NUIOA_METRIC_AVG };

/* Sorts profile->flows by source and target in place, those of collectives after the others, and
 * adds up those of one pair and kind. It cannot fail. */
void nuioa_profile_merge(struct nuioa_profile *profile);

/* Fills the caller's traffic[rank_count] with what each rank exchanges with other nodes.
 * node_of[rank_count] is the node of each rank, any number; if node_of is NULL, each rank is alone
 * on its node. A rank that no flow mentions gets its `rank` line. Returns 0; or -ENOMEM, and
 * traffic[] is unchanged. */
int nuioa_profile_traffic(const struct nuioa_profile *profile, const uint32_t *node_of,
                          struct nuioa_traffic *traffic);

/* Returns the weight of a rank with this traffic. For NUIOA_POLICY_LATENCY it is the number of
 * messages in both directions. Otherwise it is in bytes:
 *
 *     large_recv_bytes + 0.18 * (recv_bytes - large_recv_bytes) + 0.05 * sent_bytes
 *
 * The distance to the NIC costs large messages (32 KiB and more) 25 to 30 % of their throughput,
 * and smaller ones 5 % (B. Goglin, S. Moreaud, "Dodging Non-Uniform I/O Access in Hierarchical
 * Collective Operations for Multicore Clusters", CASS 2011, section 4.2): 5 / 27.5 = 0.18. It
 * costs writes by the NIC 24 % and its reads 1 % (S. Moreaud, B. Goglin, "Impact of NUMA
 * Effects on High-Speed Networking with Multi-Opteron Machines", PDCS 2007, table 2): 0.05. If
 * `has_large` is false, which is that of the profile, received bytes count whole, because their
 * messages may be large; if it is true, large_recv_bytes counts for recv_bytes at the most. */
double nuioa_traffic_weight(const struct nuioa_traffic *traffic, enum nuioa_policy policy,
                            bool has_large);

/* The longest text of nuioa_profile_why, with the '\0'. */
#define NUIOA_PROFILE_WHY_MAX 160

/* Writes to `text` why the profile is partial, and returns it. */
const char *nuioa_profile_why(const struct nuioa_profile *profile,
                              char text[NUIOA_PROFILE_WHY_MAX]);

/* Adds warnings of what a profile has and nobody uses: it is partial; or ranks with `pair` lines
 * have `rank` lines, too, which count only where no pair does. The warnings do not name the file.
 * `warnings` may be NULL. */
void nuioa_profile_warn(const struct nuioa_profile *profile, struct nuioa_warnings *warnings);

/* Frees what the profile owns, but not `profile` itself, and makes it empty. */
void nuioa_profile_free(struct nuioa_profile *profile);

#endif
