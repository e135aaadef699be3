/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_MEASURE_H
#define NUIOA_TOOL_PROBE_MEASURE_H

#include <stddef.h>
#include "util/error.h"

/* The measurement of `nuioa probe`, and its loop alone for the benchmark in test/probe. */

struct probe;

/* A chain of loads through memory of one NUMA node. */
struct probe_buffer {
    void *map; /* the memory, `bytes` bytes */
    size_t bytes;
    const void *at; /* the load with which the chain continues */
};

/* Measures this machine, whose description is in probe->node, for seconds to minutes: fills count,
 * numa, index, latency and full_ns of *probe, which owns them, also after an error. It prints its
 * progress on stderr, and binds the calling thread until it returns. Returns 0, or a negative errno
 * with *err. */
int probe_measure(struct probe *probe, struct nuioa_error *err);

/* Makes a chain of loads through `bytes` bytes of memory (rounded down to a multiple of 2 MB, or
 * below that of 64) of the NUMA node with that OS index, or of any if it is -1. *buffer is
 * overwritten. Returns 0, and the caller closes it with probe_buffer_close; or a negative errno
 * with *err, and there is nothing to close. */
int probe_buffer_open(struct probe_buffer *buffer, size_t bytes, int os_index,
                      struct nuioa_error *err);

/* Gives the memory back and makes *buffer empty, which it may be already. */
void probe_buffer_close(struct probe_buffer *buffer);

/* Follows the chain in the calling thread. Returns nanoseconds for one load: the median of `chunks`
 * (1 to 256) chunks of 2000 loads. The next call continues where this one ended. */
double probe_buffer_chase(struct probe_buffer *buffer, unsigned chunks);

#endif
