/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_SHOW_H
#define NUIOA_MPI_BENCH_SHOW_H

#include <stdio.h>

#include "mpi/bench/library.h"
#include "mpi/bench/measure.h"

/* These functions print the results to `out`, as text, or as one JSON document if settings->json.
 * They are called on rank 0 only, in this order, and cannot fail. */

/* Prints what comes before the first row. */
void bench_show_begin(FILE *out, const struct bench_settings *settings,
                      const struct bench_world *world, const struct bench_library *library);

/* Prints one row. `first` is true for the first one. */
void bench_show_row(FILE *out, const struct bench_settings *settings,
                    const struct bench_world *world, const struct bench_row *row, bool first);

/* Prints what comes after the last row. */
void bench_show_end(FILE *out, const struct bench_settings *settings);

#endif
