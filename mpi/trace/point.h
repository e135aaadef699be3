/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_POINT_H
#define NUIOA_MPI_TRACE_POINT_H

#include <mpi.h>

#include "mpi/trace/table.h"

/* These functions count messages between two ranks, and one-sided calls. They are called after the
 * MPI call has succeeded, by any thread, and cannot fail: what there is no memory for is not
 * counted. */

/* Counts a message of `count` elements of `type` to the rank `dest` of `comm`. MPI_PROC_NULL is not
 * counted. */
void trace_send(int dest, MPI_Count count, MPI_Datatype type, MPI_Comm comm);

/* Counts a one-sided call that moves `count` elements of `type` to (TRACE_TO) or from (TRACE_FROM)
 * the process with the number `rank` in the window. No data and MPI_PROC_NULL are not counted. */
void trace_one_sided(enum trace_direction direction, int rank, MPI_Count count, MPI_Datatype type,
                     MPI_Win window);

/* Counts a one-sided call that sends `count` elements of `type` to that process and gets `back`
 * elements of `back_type` back. If `op` is MPI_NO_OP, nothing is sent. */
void trace_exchange(MPI_Op op, int rank, MPI_Count count, MPI_Datatype type, MPI_Count back,
                    MPI_Datatype back_type, MPI_Win window);

/* Begins to note what a persistent request sends: until trace_prepared(), messages that this thread
 * counts are noted and not counted. */
void trace_prepare(void);

/* Ends what trace_prepare() has begun: the noted messages are counted each time `request` is
 * started, until trace_forget(). */
void trace_prepared(MPI_Request request);

/* Counts one start of a persistent request, whose handle was `before`. MPI may have replaced it by
 * `after`; else both are the same. Other requests are ignored. */
void trace_start(MPI_Request before, MPI_Request after);

/* Returns an array for `count` handles, which the caller frees, so that trace_start() can be called
 * for each of several requests that were started at once. NULL: there is no memory for it, and what
 * these send is not counted. */
MPI_Request *trace_handles(int count);

/* Forgets what was noted for a request, before the program frees it. Other requests are ignored. */
void trace_forget(MPI_Request request);

#endif
