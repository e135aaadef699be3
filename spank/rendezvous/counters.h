/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_COUNTERS_H
#define SPANK_RENDEZVOUS_COUNTERS_H

#include <stddef.h>

#include "spank/rendezvous/wire.h"

/* The body of COUNTERS says what the NICs of a node carried during the step. */
struct counters {
    struct wire_counters head;
    struct wire_counter nics[WIRE_NICS_MAX]; /* [head.nic_count] */
};

/* Returns the length in bytes of the body that *counters holds, from its beginning on. */
size_t counters_length(const struct counters *counters);

/* Checks the body of COUNTERS, which may be hostile, and copies it to *counters: lengths, counts,
 * numbers and texts. Returns 0 or -EINVAL; after an error *counters is undefined. */
int counters_read(const void *bytes, size_t length, struct counters *counters);

#endif
