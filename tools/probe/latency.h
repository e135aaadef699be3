/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_LATENCY_H
#define NUIOA_TOOL_PROBE_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* The latency of a load from memory for each pair of NUMA nodes, measured on this machine or on
 * another. The matrix is square and row-major: row i is the initiator (the core), column j the
 * memory, as in table 3.1 of Moreaud's master thesis (2007). */
struct nuioa_latency {
    uint32_t count;
    double local_ns; /* local access, mean over the NUMA nodes; 0: unknown */
    double noise_ns; /* spread of repeated measurements; 0: unknown */
    double *over_ns; /* [count * count]: time above the local access of row i; diagonal 0 */
};

/* The most rows of a matrix that is read. */
#define NUIOA_LATENCY_COUNT_MAX 512

/* Makes a matrix of `count` rows, all zeros; *latency is overwritten. Returns 0 or -ENOMEM. In both
 * cases the caller frees it with nuioa_latency_free. */
int nuioa_latency_init(struct nuioa_latency *latency, uint32_t count);

/* Frees the matrix, but not `latency` itself, and makes *latency empty. */
void nuioa_latency_free(struct nuioa_latency *latency);

/* Reads a matrix from text: one row on each line, decimal numbers with blanks, tabs, commas or
 * semicolons between them; '#' begins a comment. If the diagonal is all zeros, the numbers are
 * nanoseconds above the local access, and local_ns stays 0. If it has no zeros, they are full
 * nanoseconds, as benchmarks print them, and the diagonal of each row is subtracted from the row.
 * The text has `length` bytes and a NUL after them, need not be trusted, and is modified. `path` is
 * used only in *err. Returns 0, and the caller frees *latency with nuioa_latency_free; or -EINVAL
 * with the line in *err, or -ENOMEM, and *latency is empty. */
int nuioa_latency_parse(struct nuioa_latency *latency, const char *path, char *text, size_t length,
                        struct nuioa_error *err);

/* Reads the same from the file `path` of less than 8 MiB; "-" is standard input. Returns as
 * nuioa_latency_parse does, or the negative errno of opening the file, with *err. It is -EINVAL too
 * if the file is too large or cannot be read, or if memory for it is short. */
int nuioa_latency_read(struct nuioa_latency *latency, const char *path, struct nuioa_error *err);

/* Sets local_ns and over_ns of an initialised matrix from full_ns[count * count], row-major, the
 * full latencies in nanoseconds, whose diagonal is the local access. `full_ns` stays the
 * caller's. */
void nuioa_latency_from_full(struct nuioa_latency *latency, const double *full_ns);

/* Sorts latencies in ascending order. */
void nuioa_latency_sort(double *ns, size_t count);

/* Returns how many nanoseconds more than its local access a load by i from memory j takes. */
static inline double nuioa_latency_at(const struct nuioa_latency *l, unsigned i, unsigned j)
{
    return l->over_ns[(size_t)i * l->count + j];
}

#endif
