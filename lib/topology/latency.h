/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_LATENCY_H
#define NUIOA_TOPOLOGY_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* What a load from memory takes between each pair of NUMA nodes, measured here or elsewhere.
 * Square, row-major; row i is the initiator (the core), column j the memory, as in Moreaud, master
 * thesis 2007, table 3.1. */
struct nuioa_latency {
    uint32_t count;
    double local_ns; /* a local access, mean over the nodes; 0: unknown */
    double noise_ns; /* by how much repetitions of one measurement differ; 0: unknown */
    double *over_ns; /* count * count: more than row i's own local access; diagonal 0 */
};

#define NUIOA_LATENCY_COUNT_MAX 512

/* An empty matrix of `count` rows. 0, or -ENOMEM. Release with nuioa_latency_free. */
int nuioa_latency_init(struct nuioa_latency *latency, uint32_t count);
void nuioa_latency_free(struct nuioa_latency *latency);

/* Reads a matrix: one row a line, decimal numbers apart by blanks, tabs, commas or semicolons, '#'
 * begins a comment. A diagonal of zeros: nanoseconds over local access. A diagonal without zeros:
 * nanoseconds, as benchmarks print them; each row's diagonal is taken off the row. Every byte may
 * be hostile. 0; or negative with *err naming the line and *latency empty. `path` is for *err only.
 * `text` is modified. */
int nuioa_latency_parse(struct nuioa_latency *latency, const char *path, char *text, size_t length,
                        struct nuioa_error *err);

/* The same from a file; "-" is standard input. */
int nuioa_latency_read(struct nuioa_latency *latency, const char *path, struct nuioa_error *err);

/* Sets local_ns and over_ns from full latencies, of which the diagonal is the local one. `full_ns`
 * is count * count. */
void nuioa_latency_from_full(struct nuioa_latency *latency, const double *full_ns);

static inline double nuioa_latency_at(const struct nuioa_latency *l, unsigned i, unsigned j)
{
    return l->over_ns[(size_t)i * l->count + j];
}

#endif
