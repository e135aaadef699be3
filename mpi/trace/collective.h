/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_COLLECTIVE_H
#define NUIOA_MPI_TRACE_COLLECTIVE_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/trace/counts.h"

/* Each function counts what this rank sends in one collective call, by the model in
 * mpi/trace/collective.c. They are called after the MPI call has succeeded, with MPI's arguments:
 * `count` elements of `type`, the `root` and the communicator. They send no message, and cannot
 * fail: what there is no memory for is not counted. Calls on intercommunicators are not counted. */

void trace_bcast(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_reduce(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void trace_allreduce(MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void trace_scan(MPI_Count count, MPI_Datatype type, MPI_Comm comm);

/* If `in_place`, the send buffer is MPI_IN_PLACE, and count and type are not used. It counts for
 * MPI_Gatherv too. */
void trace_gather(bool in_place, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);

/* Part i of `counts` is what rank i receives, or contributes in an allgather. They count for the
 * collectives with a v too. */
void trace_scatter(struct trace_counts counts, MPI_Datatype type, int root, MPI_Comm comm);
void trace_allgather(struct trace_counts recv_counts, MPI_Datatype type, MPI_Comm comm);
void trace_reduce_scatter(struct trace_counts counts, MPI_Datatype type, MPI_Comm comm);

/* In these two, part i of `counts` goes to rank i, or to neighbour i of the topology of `comm`. It
 * has the type types[i], or `type` if `types` is NULL. */
void trace_alltoall(struct trace_counts counts, MPI_Datatype type, const MPI_Datatype *types,
                    MPI_Comm comm);
void trace_neighbours(struct trace_counts counts, MPI_Datatype type, const MPI_Datatype *types,
                      MPI_Comm comm);

#endif
