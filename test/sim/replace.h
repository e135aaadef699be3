/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Put before each of the library's sources: what SMPI has otherwise than a real MPI. See
 * library.c. */
#include <mpi.h>

int sim_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made);
int sim_window_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
                        MPI_Win *win);
int sim_window_query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base);

#define PMPI_Comm_split_type sim_split_type
#define PMPI_Win_allocate_shared sim_window_allocate
#define PMPI_Win_shared_query sim_window_query
