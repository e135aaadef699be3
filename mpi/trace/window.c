/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/trace/window.h"

#include "mpi/trace/comm.h"
#include "mpi/trace/counts.h"

void trace_one_sided(enum trace_direction direction, int rank, MPI_Count count, MPI_Datatype type,
                     MPI_Win window)
{
    uint64_t bytes = rank < 0 ? 0 : trace_bytes(count, type);
    if (bytes)
        trace_add(direction, trace_world_rank(trace_window(window), rank), bytes, 1);
}

/* With MPI_NO_OP no data are sent. */
void trace_exchange(MPI_Op op, int rank, MPI_Count count, MPI_Datatype type, MPI_Count back,
                    MPI_Datatype back_type, MPI_Win window)
{
    if (op != MPI_NO_OP)
        trace_one_sided(TRACE_TO, rank, count, type, window);
    trace_one_sided(TRACE_FROM, rank, back, back_type, window);
}
