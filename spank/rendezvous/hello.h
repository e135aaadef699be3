/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_HELLO_H
#define SPANK_RENDEZVOUS_HELLO_H

#include <stdbool.h>
#include <stddef.h>

#include "spank/rendezvous/wire.h"

/* What srun demands of a node that calls. */
struct hello_wanted {
    uint32_t job_id, step_id;
    bool any_job;
    uint32_t node_count; /* 0: not known yet */
};

/* The body of HELLO: malloc'd, caller frees; NULL without memory. ranks[hello->rank_count]. Fills
 * in the purpose. */
void *hello_make(struct wire_hello *hello, const uint32_t *ranks, size_t *length);

/* Reads what a node has said; its ranks stay in `bytes`, and are all different. False: it is not a
 * node of this step. */
bool hello_read(const struct hello_wanted *wanted, const void *bytes, size_t length,
                struct wire_hello *hello);

#endif
