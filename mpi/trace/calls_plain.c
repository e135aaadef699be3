/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "mpi/trace/counted.h"
#include "mpi/trace/trace.h"

/* The C entry points that take no numbers of elements, and so have one form only. */

/* --- start and end --------------------------------------------------------------------------- */

int MPI_Init(int *argc, char ***argv)
{
    COUNTED(NEXT(Init)(argc, argv), trace_begin())
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    COUNTED(NEXT(Init_thread)(argc, argv, required, provided), trace_begin())
}

int MPI_Finalize(void)
{
    trace_end();
    return NEXT(Finalize)();
}

int MPI_Abort(MPI_Comm comm, int code)
{
    trace_cut_short();
    return NEXT(Abort)(comm, code);
}

/* --- persistent requests --------------------------------------------------------------------- */

int MPI_Start(MPI_Request *request)
{
    MPI_Request before = *request;
    COUNTED(NEXT(Start)(request), trace_start(before, *request))
}

int MPI_Startall(int count, MPI_Request requests[])
{
    MPI_Request *before = trace_handles(count);
    for (int i = 0; before && i < count; i++)
        before[i] = requests[i];
    bool outermost = trace_enter(__builtin_frame_address(0));
    int rc = NEXT(Startall)(count, requests);
    trace_leave(outermost);
    for (int i = 0; before && i < count && rc == MPI_SUCCESS && outermost; i++)
        trace_start(before[i], requests[i]);
    free(before);
    return rc;
}

int MPI_Request_free(MPI_Request *request)
{
    MPI_Request before = *request;
    int rc = NEXT(Request_free)(request);
    if (rc == MPI_SUCCESS)
        trace_forget(before);
    return rc;
}

/* A partitioned send has parts that become ready one by one. It is counted as one message. */
#if TRACE_MPI_4
int MPI_Psend_init(const void *buffer, int parts, MPI_Count count, MPI_Datatype type, int dest,
                   int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    PREPARED(NEXT(Psend_init)(buffer, parts, count, type, dest, tag, comm, info, request),
             trace_send(dest, parts * count, type, comm))
}
#endif

/* --- one-sided ------------------------------------------------------------------------------- */

int MPI_Fetch_and_op(const void *ours, void *result, MPI_Datatype type, int rank, MPI_Aint place,
                     MPI_Op op, MPI_Win window)
{
    COUNTED(NEXT(Fetch_and_op)(ours, result, type, rank, place, op, window),
            trace_exchange(op, rank, 1, type, 1, type, window))
}

int MPI_Compare_and_swap(const void *ours, const void *compare, void *result, MPI_Datatype type,
                         int rank, MPI_Aint place, MPI_Win window)
{
    COUNTED(NEXT(Compare_and_swap)(ours, compare, result, type, rank, place, window),
            trace_exchange(MPI_REPLACE, rank, 1, type, 1, type, window))
}
