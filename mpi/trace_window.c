#include "trace.h"

void trace_one_sided(enum trace_direction direction, int rank, int count, MPI_Datatype type,
                     MPI_Win window)
{
    int size = 0;
    if (rank < 0 || count <= 0)
        return;
    PMPI_Type_size(type, &size);
    if (size > 0)
        trace_add(direction, trace_world_rank(trace_window(window), rank),
                  (uint64_t)count * (uint64_t)size, 1);
}

/* With MPI_NO_OP nothing goes there. */
void trace_exchange(MPI_Op op, int rank, int count, MPI_Datatype type, int back,
                    MPI_Datatype back_type, MPI_Win window)
{
    if (op != MPI_NO_OP)
        trace_one_sided(TRACE_TO, rank, count, type, window);
    trace_one_sided(TRACE_FROM, rank, back, back_type, window);
}
