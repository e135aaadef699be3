/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROFILE_PRINT_H
#define NUIOA_TOOL_PROFILE_PRINT_H

#include "profile/profile.h"

/* What `nuioa profile` says of a profile. */

#define PROFILE_NODES_MAX 8

/* The traffic that crosses nodes if ranks are on `nodes` of them: shares of all, 0 to 1. */
struct profile_share {
    uint32_t nodes;
    bool cyclic;
    double bytes, msgs;
};

/* What srun would send to the nodes of the layout asked for. */
struct profile_slices {
    uint32_t nodes;        /* 0: none was asked for */
    uint32_t ranks, pairs; /* of the node with the largest slice */
    uint64_t largest_bytes, all_bytes;
    double read_s, slice_s; /* the whole file; the mean of a node */
};

struct profile_summary {
    const struct nuioa_profile *profile;
    enum nuioa_metric metric;
    double bytes, msgs, large_bytes; /* between ranks, all pairs */
    bool from_ranks;                 /* no pairs: sums of the `rank` lines (received) */
    struct nuioa_traffic *traffic;   /* [rank_count], off the node in the layout asked for */
    uint32_t *heaviest;              /* [rank_count], ranks in descending order of the metric */
    unsigned share_count;
    struct profile_share shares[2 * PROFILE_NODES_MAX];
    struct profile_slices slices;
};

/* `nodes` 0: no layout is asked for, each rank is a node in `traffic`, and shares are of several
 * usual layouts. Gives the profile an index. 0 or -ENOMEM; to be freed in any case. */
int profile_summarise(struct profile_summary *summary, struct nuioa_profile *profile,
                      enum nuioa_metric metric, uint32_t nodes, bool cyclic);
void profile_summary_free(struct profile_summary *summary);

/* The number that ranks are compared by: received and a twentieth of the sent bytes; messages both
 * ways; bytes a message. */
double profile_heaviness(const struct nuioa_traffic *traffic, enum nuioa_metric metric);

/* Seconds since some moment. */
double profile_clock_s(void);

/* Both return the exit status. */
int profile_print_text(const struct profile_summary *summary);
int profile_print_json(const struct profile_summary *summary);

#endif
