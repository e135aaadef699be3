/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The collectives that CASS 2011 measured, in their order of steps. `near`: leaders beside the NIC,
 * else those of Open MPI's Hierarch, which have the root's local rank. Ranks are in blocks: rank =
 * node * per_node + local rank. */
#include <stddef.h>

struct published {
    int per_node;
    int near;          /* bool */
    const char *inter; /* linear: blocking sends; linearnb; binomial; chain: pipelined */
    const char *intra; /* sm: copy in, copies out; linear: messages; nbp: see published_bcast */
    size_t segment;
};

/* Called by all before the first other one: finds out where everybody is. */
void published_start(const struct published *p);

/* The NUMA node on which a rank runs. */
int published_numa(int rank);

/* intra "nbp": the non-blocking pipeline, leaders send segments on to other leaders and to
 * local ranks alike; else one step after the other. */
void published_bcast(const struct published *p, char *buffer, size_t bytes, int root);

/* Tuned's pipelined chain over all ranks in their order; near: each node is entered beside its
 * NIC. */
void published_chain(const struct published *p, char *buffer, size_t bytes, int root);

/* All send to the root, at once. */
void published_gather(char *in, char *out, size_t bytes, int root);
