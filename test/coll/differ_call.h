/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_COLL_DIFFER_CALL_H
#define TEST_COLL_DIFFER_CALL_H

#include "differ.h"

/* One broadcast, which differ_draw.c draws and differ_calls.c makes. */

enum wrong { RIGHT, WRONG_COUNT, WRONG_ROOT, WRONG_TYPE };

struct call {
    const struct slot *slot;
    MPI_Comm comm;
    int size, me; /* my group, my rank */
    int root;     /* as passed */
    bool am_root;
    enum wrong wrong;
    enum base base;
    long n; /* base elements */
    uint64_t salt;
    const struct layout *layout; /* the ranks may have different ones */
    int count;                   /* elements of the layout */
};

/* Draws a call. Returns false if this rank has no part in it; *call is then of no use. It may set
 * an algorithm of the library. */
bool call_draw(struct context *context, struct draw *draw, struct call *call);

#endif
