/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_HELLO_H
#define SPANK_RENDEZVOUS_HELLO_H

#include <stdbool.h>
#include <stddef.h>

#include "spank/rendezvous/wire.h"

/* The first message of a node: its body, and how srun checks it. */

/* The step for which srun accepts hellos. */
struct hello_wanted {
    uint32_t job_id, step_id;
    bool any_job;        /* true: hellos of any job are accepted, job_id does not count */
    uint32_t node_count; /* 0: not known yet, any number is accepted */
};

/* Makes the body of HELLO: a copy of *hello, whose `purpose` it sets, and of
 * ranks[hello->rank_count], which may be NULL if that is 0. Returns it malloc'd (caller frees) with
 * its *length in bytes, or NULL without memory. */
void *hello_make(struct wire_hello *hello, const uint32_t *ranks, size_t *length);

/* Checks a received body of `length` bytes, which may be hostile, and copies its head to *hello.
 * The ranks stay in `bytes`, behind the head, perhaps not aligned, are below WIRE_RANKS_MAX and all
 * different. Returns
 * true; or false if the body is not a valid hello for the step `wanted`: then *hello is
 * undefined. */
bool hello_read(const struct hello_wanted *wanted, const void *bytes, size_t length,
                struct wire_hello *hello);

#endif
