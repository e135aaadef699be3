/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_COLLECTIVE_H
#define NUIOA_MPI_TRACE_COLLECTIVE_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/trace/counts.h"

/* Each function counts what this rank sends in one collective, by the model in
 * mpi/trace/collective.c. They are called after the MPI call has succeeded. With `in_place` the
 * send arguments do not count. */
void trace_bcast(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_reduce(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_allreduce(MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void trace_scan(MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void trace_gather(bool in_place, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_scatter(struct trace_counts counts, MPI_Datatype type, int root, MPI_Comm comm);
void trace_allgather(struct trace_counts recv_counts, MPI_Datatype type, MPI_Comm comm);
void trace_reduce_scatter(struct trace_counts counts, MPI_Datatype type, MPI_Comm comm);

/* In these two, part i has the type types[i]; or `type`, if types is NULL. */
void trace_alltoall(struct trace_counts counts, MPI_Datatype type, const MPI_Datatype *types,
                    MPI_Comm comm);
void trace_neighbours(struct trace_counts counts, MPI_Datatype type, const MPI_Datatype *types,
                      MPI_Comm comm);

#endif
