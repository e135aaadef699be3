/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_TABLE_H
#define NUIOA_MPI_BENCH_TABLE_H

#include "mpi/bench/bench.h"
#include "mpi/bench/library.h"

/* Measures every algorithm of the library for every wanted collective that it leads and every size,
 * and writes on rank 0 a table of the best ones (mpi/coll/table.h) to the file settings->table. All
 * ranks of MPI_COMM_WORLD call it. Returns the same on all ranks: 0; -ENOSYS if the library is not
 * there; or another -errno, and then the file may be there in part. */
int bench_table(const struct bench_settings *settings, const struct bench_world *world,
                const struct bench_library *library);

#endif
