/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_WINDOW_H
#define NUIOA_MPI_TRACE_WINDOW_H

#include <mpi.h>

#include "mpi/trace/table.h"

/* These functions count one-sided calls, after the MPI call has succeeded. Any thread may call
 * them. They cannot fail: what there is no memory for is not counted. */

/* Counts a one-sided call that moves `count` elements of `type` to (TRACE_TO) or from (TRACE_FROM)
 * the process with the number `rank` in the window. No data and MPI_PROC_NULL are not counted. */
void trace_one_sided(enum trace_direction direction, int rank, MPI_Count count, MPI_Datatype type,
                     MPI_Win window);

/* Counts a one-sided call that sends `count` elements of `type` to that process and gets `back`
 * elements of `back_type` back. If `op` is MPI_NO_OP, nothing is sent. */
void trace_exchange(MPI_Op op, int rank, MPI_Count count, MPI_Datatype type, MPI_Count back,
                    MPI_Datatype back_type, MPI_Win window);

#endif
