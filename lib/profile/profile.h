/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_H
#define NUIOA_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* A profile says how much the ranks of a job send to each other. The option --nuioa-trace records
 * it, or it is written by hand; doc/formats.md describes the formats. profile_read.h reads one,
 * profile_write.h writes one, profile_slice.h derives what it means for one node. */

#define NUIOA_PROFILE_BYTES_MAX (256L << 20) /* of a file */
#define NUIOA_PROFILE_RANKS_MAX (1u << 20)
#define NUIOA_PROFILE_FLOWS_MAX (1u << 24)

/* The largest number in a profile. It is larger than any real count and keeps every sum finite. */
#define NUIOA_PROFILE_NUMBER_MAX 1e18

/* The traffic of one rank with other nodes. */
struct nuioa_traffic {
    double sent_bytes, recv_bytes;
    double sent_msgs, recv_msgs;
    double large_recv_bytes; /* received in large messages */
};

/* The traffic from one rank to another: a `pair` line. */
struct nuioa_flow {
    uint32_t source, target;
    double bytes, msgs, large_bytes;
};

struct nuioa_profile {
    bool partial; /* the recording was cut short */
    uint32_t rank_count;
    bool open_ended;             /* the files do not give the number of ranks: there may be more */
    struct nuioa_traffic *ranks; /* [rank_count]; 0 for ranks without a `rank` line */
    uint32_t flow_count;
    struct nuioa_flow *flows; /* [flow_count] in the order of the file; a pair may be repeated */
    /* The index, or NULL. The flows that rank r sends or receives are
       flows[flows_of[first_of[r]]] .. flows[flows_of[first_of[r + 1] - 1]]. */
    uint32_t *first_of, *flows_of;
};

/* The meaning of a matrix' numbers, as in TreeMatch: bytes, messages, bytes per message. */
enum nuioa_metric { NUIOA_METRIC_SIZE, NUIOA_METRIC_MSG, NUIOA_METRIC_AVG };

/* Sorts the flows by source and target, and adds up those of one pair. Frees the index. */
void nuioa_profile_merge(struct nuioa_profile *profile);

/* Fills traffic[rank_count] with what each rank exchanges with other nodes. node_of[rank_count] is
 * the node of each rank; NULL: each rank is alone on its node. A rank that no flow mentions gets
 * its `rank` line. Returns 0 or -ENOMEM. */
int nuioa_profile_traffic(const struct nuioa_profile *profile, const uint32_t *node_of,
                          struct nuioa_traffic *traffic);

/* Makes the index in O(flows). After that a slice costs no more than the flows of its own ranks;
 * srun makes a slice for each node. Returns 0 or -ENOMEM. */
int nuioa_profile_index(struct nuioa_profile *profile);

/* Frees what the profile holds and empties it. */
void nuioa_profile_free(struct nuioa_profile *profile);

#endif
