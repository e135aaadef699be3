/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_TRACE_WINDOW_H
#define NUIOA_MPI_TRACE_WINDOW_H

#include <mpi.h>

#include "mpi/trace/table.h"

/* Counts a one-sided call to or from the rank of the window. */
void trace_one_sided(enum trace_direction direction, int rank, MPI_Count count, MPI_Datatype type,
                     MPI_Win window);

/* Counts a one-sided call that sends data and gets other data back. With MPI_NO_OP it sends
 * none. */
void trace_exchange(MPI_Op op, int rank, MPI_Count count, MPI_Datatype type, MPI_Count back,
                    MPI_Datatype back_type, MPI_Win window);

#endif
