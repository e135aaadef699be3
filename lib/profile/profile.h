/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PROFILE_PROFILE_H
#define NUIOA_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "mapping/mapping.h"
#include "topology/policy.h"
#include "util/error.h"

/* What the ranks of a job say to each other, as recorded or written by hand (contract: "Profile"):
 *
 *     nuioa-profile 1
 *     ranks 64                              followed by "partial": the recording was cut short
 *     rank 0 1048576 524288 16 8 500000     off the node: bytes sent, received, messages sent,
 *                                           received, bytes received in large messages
 *     pair 0 8 1048576 16 1000000           from rank 0 to 8: bytes, messages, bytes of large ones
 *
 * '#' begins a comment, trailing fields are ignored. Two formats of others are read as well:
 *
 * A square matrix, as TreeMatch takes it: a row a line, cell j of row i is what rank i sends to j.
 *
 * What the monitoring of Open MPI leaves (NAME.RANK.prof, or a directory of these): point-to-point
 * traffic, with what its collectives send (E, I), puts (S) and gets (R). Its C lines are a second
 * account of the collectives, so they are not added. */

#define NUIOA_PROFILE_BYTES_MAX (256L << 20)
#define NUIOA_PROFILE_RANKS_MAX (1u << 20)
#define NUIOA_PROFILE_FLOWS_MAX (1u << 24)

/* Larger than any real count; keeps every sum finite. */
#define NUIOA_PROFILE_NUMBER_MAX 1e18

struct nuioa_traffic {
    double sent_bytes, recv_bytes;
    double sent_msgs, recv_msgs;
    double large_recv_bytes;
};

/* One `pair` line. */
struct nuioa_flow {
    uint32_t source, target;
    double bytes, msgs, large_bytes;
};

struct nuioa_profile {
    bool partial; /* whoever recorded it did not see the end of the job */
    uint32_t rank_count;
    bool open_ended; /* the files do not say how many ranks there were: at least so many */
    struct nuioa_traffic *ranks; /* [rank_count]; zero where there is no `rank` line */
    uint32_t flow_count;
    struct nuioa_flow *flows; /* as in the file: a pair may appear more than once */
    /* By nuioa_profile_index; NULL without. flows_of[first_of[r] .. first_of[r + 1] - 1] are the
       flows that rank r sends or receives, as indexes into `flows`. */
    uint32_t *first_of, *flows_of;
};

enum nuioa_profile_format {
    NUIOA_PROFILE_ANY, /* what the file looks like */
    NUIOA_PROFILE_TEXT,
    NUIOA_PROFILE_MATRIX,
    NUIOA_PROFILE_OPENMPI,
};

/* As in TreeMatch: bytes, messages, bytes a message. */
enum nuioa_metric { NUIOA_METRIC_SIZE, NUIOA_METRIC_MSG, NUIOA_METRIC_AVG };

/* Reads a file that anybody may have written, of any format. 0 and *profile (caller:
 * nuioa_profile_free); or -errno, -EINVAL with "FILE:LINE: ..." in *err, *profile empty. */
int nuioa_profile_read(const char *path, struct nuioa_profile *profile, struct nuioa_error *err);

/* Adds up several files. Their numbers of ranks must agree, except for Open MPI's, where none is
 * said. `metric` is what the numbers of a matrix are: those of `avg` are taken as the bytes of one
 * message each. Likewise. */
int nuioa_profile_load(const char *const *paths, uint32_t count, enum nuioa_profile_format format,
                       enum nuioa_metric metric, struct nuioa_profile *profile,
                       struct nuioa_error *err);

/* Writes the text format: pairs in order of source and target, each once. 0, or -errno with *err,
 * the file incomplete. */
int nuioa_profile_write(const char *path, const struct nuioa_profile *profile,
                        struct nuioa_error *err);

/* Writes a square matrix of one metric. Likewise. */
int nuioa_profile_write_matrix(const char *path, const struct nuioa_profile *profile,
                               enum nuioa_metric metric, struct nuioa_error *err);

/* Sorts the flows by source and target and adds up those of one pair. Drops the index. */
void nuioa_profile_merge(struct nuioa_profile *profile);

/* What each rank exchanges with other nodes: node_of[rank_count] says where ranks are; NULL: each
 * on a node of its own. For a rank that no flow mentions, its `rank` line. */
int nuioa_profile_traffic(const struct nuioa_profile *profile, const uint32_t *node_of,
                          struct nuioa_traffic *traffic);

/* Finds the flows of each rank once, O(flows), for slices that cost no more than the flows of their
 * own ranks: srun makes one for each node. 0 or -ENOMEM. */
int nuioa_profile_index(struct nuioa_profile *profile);

void nuioa_profile_free(struct nuioa_profile *profile);

/* What a profile means for one node that runs ranks[count] (by local rank), all different: fills
 * weight[count], by the policy, and the pairs among them, each once, by local rank (*pairs
 * malloc'd, caller frees; NULL if none). Traffic with any other rank is off the node. The `rank`
 * line of a rank counts only when no `pair` line mentions that rank: it was true for the layout it
 * was recorded on, the pairs are for any.
 *
 * Weights are received plus 0.05 of the sent bytes (Moreaud & Goglin, PDCS 2007, table 2: distance
 * costs writes by the NIC 24 %, its reads 1 %); for latency, messages both ways, and pairs in
 * messages too so that both terms of the cost have one unit.
 *
 * With an index it costs the flows of these ranks, else all flows of the profile; any number of
 * threads may slice one profile. 0, -ENOMEM, or -EINVAL if a rank is there twice. */
int nuioa_profile_slice(const struct nuioa_profile *profile, enum nuioa_policy policy,
                        const uint32_t *ranks, uint32_t count, double *weight,
                        struct nuioa_pair **pairs, uint32_t *pair_count,
                        struct nuioa_warnings *warnings);

#endif
