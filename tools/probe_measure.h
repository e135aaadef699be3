/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_MEASURE_H
#define NUIOA_TOOL_PROBE_MEASURE_H

#include <stddef.h>

#include "util/error.h"

/* The loop that `nuioa probe` measures with, for the command and for the benchmark of it. */

struct probe_buffer {
    void *map;
    size_t bytes;
    const void *at; /* where the chain of loads goes on */
};

/* A chain of loads through that many bytes (rounded down to 2 MB above that) of memory of the NUMA
 * node, or of any if os_index is -1. 0, or negative with *err and *buffer empty. */
int probe_buffer_open(struct probe_buffer *buffer, size_t bytes, int os_index,
                      struct nuioa_error *err);
void probe_buffer_close(struct probe_buffer *buffer);

/* ns a load, by the calling thread: the median of that many chunks of 2000 loads (256 at most). */
double probe_buffer_chase(struct probe_buffer *buffer, unsigned chunks);

#endif
