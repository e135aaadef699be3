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
