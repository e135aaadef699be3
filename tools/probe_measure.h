/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_MEASURE_H
#define NUIOA_TOOL_PROBE_MEASURE_H

#include <stddef.h>
#include "util/error.h"

/* The measurement of `nuioa probe`, and its loop alone for the benchmark in test/probe. */

struct probe;

struct probe_buffer {
    void *map;
    size_t bytes;
    const void *at; /* the load with which the chain continues */
};

/* Measures this machine: fills count, numa, index, latency and full_ns. Returns 0, or a negative
 * error with *err. */
int probe_measure(struct probe *probe, struct nuioa_error *err);

/* Makes a chain of loads through `bytes` bytes of memory (above 2 MB rounded down to 2 MB) of the
 * NUMA node with that OS index, or of any if it is -1. Returns 0, or a negative error with *err and
 * an empty *buffer. */
int probe_buffer_open(struct probe_buffer *buffer, size_t bytes, int os_index,
                      struct nuioa_error *err);
void probe_buffer_close(struct probe_buffer *buffer);

/* Follows the chain in the calling thread. Returns nanoseconds for one load: the median of `chunks`
 * (at most 256) chunks of 2000 loads. */
double probe_buffer_chase(struct probe_buffer *buffer, unsigned chunks);

#endif
