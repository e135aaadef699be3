/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_SHOW_H
#define NUIOA_MPI_BENCH_SHOW_H

#include <stdio.h>

#include "mpi/bench/library.h"
#include "mpi/bench/measure.h"

/* These print the results, as text or as JSON. They are called on rank 0 only. `first` says that
 * the row is the first one. */
void bench_show_begin(FILE *out, const struct bench_settings *settings,
                      const struct bench_world *world, const struct bench_library *library);
void bench_show_row(FILE *out, const struct bench_settings *settings,
                    const struct bench_world *world, const struct bench_row *row, bool first);
void bench_show_end(FILE *out, const struct bench_settings *settings);

#endif
