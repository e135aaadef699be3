/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROFILE_PRINT_H
#define NUIOA_TOOL_PROFILE_PRINT_H

#include "profile/profile.h"
#include "profile/profile_read.h"
#include "profile/profile_slice.h"
#include "profile/profile_write.h"
#include "util/arena.h"

/* The summary of a profile that `nuioa profile` prints. */

#define PROFILE_NODES_MAX 8

/* The part of the traffic that crosses nodes if the ranks are on `nodes` of them. Ranks are dealt
 * to the nodes in turn if `cyclic`, else in blocks of consecutive ranks. */
struct profile_share {
    uint32_t nodes;
    bool cyclic;
    double bytes, msgs; /* 0 to 1 */
};

/* The slices that the nodes of the layout that was asked for would take of the profile. */
struct profile_slices {
    uint32_t nodes;        /* 0 if no layout was asked for */
    uint32_t ranks, pairs; /* of the node with the largest slice */
    uint64_t largest_bytes, all_bytes;
    double read_s;  /* to read the whole file; profile_summarise leaves 0, and the caller sets it */
    double slice_s; /* to make one slice, the mean */
};

/* The summary. Its arena owns traffic and heaviest; the profile is the caller's. */
struct profile_summary {
    const struct nuioa_profile *profile;
    enum nuioa_metric metric;
    uint32_t pair_count;             /* ordered pairs of ranks with traffic */
    double bytes, msgs, large_bytes; /* between ranks, all pairs */
    double coll_bytes;               /* the part of `bytes` that is in `coll` lines */
    bool from_ranks;                 /* no pairs: sums of the `rank` lines (received) */
    struct nuioa_traffic *traffic;   /* [rank_count], off the node in the layout asked for */
    uint32_t *heaviest;              /* [rank_count], ranks in descending order of the metric */
    unsigned share_count;
    struct profile_share shares[2 * PROFILE_NODES_MAX];
    struct profile_slices slices;
    struct nuioa_arena arena;
};

/* Computes the summary of a profile, which is merged. `nodes` and `cyclic` are the layout that was
 * asked for (struct profile_share): the shares and slices are for this layout. The profile gets an
 * index. If `nodes` is 0, no layout was asked for: each rank is a node in `traffic`, shares are for
 * several usual layouts, and there are no slices. The profile must outlive the summary. *summary is
 * overwritten. Returns 0 or -ENOMEM. In both cases the caller frees the arena. */
int profile_summarise(struct profile_summary *summary, struct nuioa_profile *profile,
                      enum nuioa_metric metric, uint32_t nodes, bool cyclic);

/* Prints the summary to stdout, for people. Returns the exit status (tool.h). */
int profile_print_text(const struct profile_summary *summary);

/* Prints the summary to stdout as JSON (doc/formats.md). Returns the exit status (tool.h). */
int profile_print_json(const struct profile_summary *summary);

#endif
