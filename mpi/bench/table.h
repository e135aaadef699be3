/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_TABLE_H
#define NUIOA_MPI_BENCH_TABLE_H

#include "mpi/bench/bench.h"
#include "mpi/bench/library.h"

/* Measures every algorithm of the library for every size, and writes on rank 0 a table of the best
 * ones (mpi/coll/table.h). Returns 0 or -errno, the same on all ranks. */
int bench_table(const struct bench_settings *settings, const struct bench_world *world,
                const struct bench_library *library);

#endif
