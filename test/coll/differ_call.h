/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_COLL_DIFFER_CALL_H
#define TEST_COLL_DIFFER_CALL_H

#include "differ.h"

/* One collective call, which differ_draw.c draws and differ_calls.c makes. */

/* clang-format off */
#define CALLS(X) \
    X(Barrier) X(Bcast) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) \
    X(Alltoall) X(Alltoallv) X(Alltoallw) X(Reduce) X(Allreduce) X(Reduce_scatter) \
    X(Reduce_scatter_block) X(Scan) X(Exscan) X(Ibcast) X(Iallreduce)
#define TAG(name) CALL_##name,

enum kind { CALLS(TAG) KINDS };
/* clang-format on */

enum wrong { RIGHT, WRONG_COUNT, WRONG_ROOT, WRONG_TYPE, WRONG_OP };

struct call {
    enum kind kind;
    const struct slot *slot;
    MPI_Comm comm;
    int size, others, me; /* my group, the group that I exchange with, my rank */
    int root;             /* as passed */
    bool am_root, in_place;
    enum wrong wrong;
    enum base base;
    int unit;      /* all counts of base elements are multiples */
    long n;        /* base elements of a block */
    uint64_t salt; /* for counts that differ from rank to rank */
    const struct operation *op;
    const struct layout *send, *receive;
    int send_count, receive_count;
    int send_counts[RANKS_MAX], receive_counts[RANKS_MAX];
    int send_at[RANKS_MAX], receive_at[RANKS_MAX];
    MPI_Datatype send_types[RANKS_MAX], receive_types[RANKS_MAX];
};

/* Draws a call, all but its counts and buffers. Returns false if this rank has no part in it; *call
 * is then of no use. It may set an algorithm of the library. */
bool call_draw(struct context *context, struct draw *draw, struct call *call);

bool is_reduction(enum kind kind);
bool is_rooted(enum kind kind);
bool exchanges(enum kind kind);

/* Returns true if the ranks exchange blocks, and false if each has one vector. */
bool has_blocks(enum kind kind);

#endif
